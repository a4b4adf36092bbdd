"""Chains of a higher order: labels depend on several before them."""
