"""What spacy train calls between its steps."""
