"""Tables of words, made of text, of word vectors, or of a transformer."""
