"""Processes that are killed or disturbed in other ways, and what of theirs is left."""
