"""Saved models: files that are checked before they are used."""
