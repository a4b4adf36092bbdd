"""The 64-bit hash of a text: spaCy's own, so that word hashes agree with `vocab.strings`."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from spacy.strings import hash_string as _hash_string  # type: ignore[attr-defined]

from ..types import Keys1d


def is_valid(text: str) -> bool:
    """Whether spaCy can hold a text: not where it has surrogates by themselves."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def hash_string(text: str) -> int:
    """MurmurHash of the UTF-8 text, 0 for the empty text."""
    return int(_hash_string(text))


def hash_strings(texts: Iterable[str | None]) -> Keys1d:
    """Hashes of many texts, uint64; 0 for None."""
    hashes = [0 if text is None else _hash_string(text) for text in texts]
    return np.array(hashes, dtype=np.uint64)
