"""Writing a complete training config."""
