"""The components, and what they share."""
