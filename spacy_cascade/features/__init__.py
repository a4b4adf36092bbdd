"""From Docs to arrays: templates, word attributes, feature ids, sequences."""
