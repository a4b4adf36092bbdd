"""File formats of annotated corpora and of annotation tools, one module each."""
