"""The systems of the sources, one folder each: each can be taken away."""
