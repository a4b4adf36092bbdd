"""Isomeric training: two chains of different schemes that agree."""
