"""What is done with whole pipelines: folds, adaptation, calibration, rerankers, recipes."""
