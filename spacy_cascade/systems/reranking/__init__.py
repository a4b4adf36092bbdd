"""Reranking: the best of several segmentations."""
