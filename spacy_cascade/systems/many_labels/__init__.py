"""Kernels and training for many labels."""
