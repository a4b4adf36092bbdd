"""Feature induction: conjunctions that raise the likelihood most."""
