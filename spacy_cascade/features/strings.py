"""The 64-bit hash of a text: spaCy's own, so that word hashes agree with `vocab.strings`."""

from __future__ import annotations

from spacy.strings import hash_string as _hash_string  # type: ignore[attr-defined]


def hash_string(text: str) -> int:
    """MurmurHash of the UTF-8 text, 0 for the empty text."""
    return int(_hash_string(text))
