"""Linear models: weights and features in, scores out."""
