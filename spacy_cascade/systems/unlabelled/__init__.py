"""Learning from unlabelled Docs: co-training, self-training and tri-training on confident spans."""
