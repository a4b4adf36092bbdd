"""The systems that are compared, and how each peer is trained."""
