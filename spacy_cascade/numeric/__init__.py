"""Arrays without meaning: sparse rows, design matrices, hash tables, long vectors."""
