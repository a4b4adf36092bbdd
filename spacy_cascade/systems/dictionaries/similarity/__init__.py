"""How similar spans are to the terms of a dictionary: Jaccard, soft TF-IDF and Jaro-Winkler."""
