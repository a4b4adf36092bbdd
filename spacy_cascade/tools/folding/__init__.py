"""Commands over folds."""
