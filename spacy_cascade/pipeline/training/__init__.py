"""Training: what `update` goes on with, and what else is learnt from a corpus."""
