"""Annotated corpora: column files in, spaCy training data out."""
