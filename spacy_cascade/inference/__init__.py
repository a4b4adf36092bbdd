"""Structures, what can be asked of them, and the kernels that answer."""
