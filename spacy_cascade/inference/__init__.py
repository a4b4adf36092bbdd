"""Numba kernels: they take arrays and return arrays, and know nothing of spaCy."""
