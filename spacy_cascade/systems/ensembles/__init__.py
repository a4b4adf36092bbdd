"""Ensembles of segmenters, and one model that imitates them."""
