"""Maximum entropy Markov models: transitions are normalised locally."""
