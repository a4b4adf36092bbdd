"""Lists of terms: features, similarity, linking, and lists that grow."""
