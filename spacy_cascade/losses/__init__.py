"""What training minimises on a corpus, additive over its sequences."""
