"""The annotation loop: what to annotate next, learning from what came back, Label Studio."""
