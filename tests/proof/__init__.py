"""The proof of a release: everything that is promised, tried on the code that is released."""
