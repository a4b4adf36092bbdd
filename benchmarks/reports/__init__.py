"""Tables, pictures and pages that are made of results."""
