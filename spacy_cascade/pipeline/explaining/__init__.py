"""Why a pipeline says what it says: features, other readings, probabilities."""
