"""Optimisers over flat parameter vectors, and the batchers that feed them."""
