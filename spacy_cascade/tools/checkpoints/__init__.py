"""Checkpoints of training, and how it goes on from them."""
