"""Files of results: a writer for each format."""
