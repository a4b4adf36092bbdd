"""Tags of tokens: parts of speech, chunks."""
