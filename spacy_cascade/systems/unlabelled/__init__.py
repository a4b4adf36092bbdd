"""Learning from unlabelled Docs: co-training and self-training on confident spans."""
