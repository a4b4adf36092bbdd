"""Experiments that compare `spacy_cascade` with its peers; README.md describes them."""
