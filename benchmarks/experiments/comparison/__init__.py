"""All models and their peers on a corpus, in one report."""
