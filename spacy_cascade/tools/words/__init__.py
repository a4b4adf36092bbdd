"""Word clusters of unlabelled text: its words, their vectors, the clusters and a tree of them."""
