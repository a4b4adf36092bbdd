"""A second look: a pipeline that sees what a first one made of the whole document."""
