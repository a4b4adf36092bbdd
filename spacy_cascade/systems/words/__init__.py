"""What is known of words: clusters and codes of vectors."""
