"""A machine-learning backend of Label Studio: its endpoints, and training as people annotate."""
