"""Tokenizers that fit a corpus."""
