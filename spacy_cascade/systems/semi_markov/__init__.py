"""Semi-Markov chains: segments are scored as wholes."""
