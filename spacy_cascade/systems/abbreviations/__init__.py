"""Abbreviations and their long forms."""
