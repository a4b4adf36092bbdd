"""Searches for the best settings of a training config, by trials."""
