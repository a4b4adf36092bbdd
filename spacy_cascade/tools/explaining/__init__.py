"""Why a pipeline says what it says: features, hypotheses, probabilities."""
