"""Files of texts: which records make a shard, and reading the records of a shard."""
