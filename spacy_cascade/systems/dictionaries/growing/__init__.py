"""Terms like known ones: from the formatting of web pages, and from word vectors."""
