"""Batch training on a corpus in shards: on disk, or in the actors of Ray."""
