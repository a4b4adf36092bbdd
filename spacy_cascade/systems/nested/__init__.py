"""Nested entities: spans around those that a segmenter has found, level by level."""
