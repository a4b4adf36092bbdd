"""Settings of training configs found by trials."""
