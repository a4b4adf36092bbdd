"""Terms from web pages: what stands in the same formatting as known terms."""
