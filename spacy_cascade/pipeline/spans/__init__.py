"""Spans of Docs: gold ones, given ones, found ones, and the N best; reading and writing them."""
