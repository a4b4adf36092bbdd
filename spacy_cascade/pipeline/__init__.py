"""The spaCy components, and how they read and write Docs."""
