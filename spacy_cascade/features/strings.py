"""The 64-bit hashes of texts: spaCy's own, so that word hashes agree with `vocab.strings`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from spacy.strings import hash_string as _hash_string  # type: ignore[attr-defined]

from ..numeric.murmur import BLOCK, hash_parts
from ..types import Bools1d, Keys1d, Pointers1d

_CONTINUES, _MASK = 0x80, 0xC0
"""The first two bits of a byte of UTF-8 that does not begin a character."""


def begins_character(content: npt.NDArray[np.uint8]) -> Bools1d:
    """Which bytes of UTF-8 are the first ones of characters."""
    begins: Bools1d = (content & _MASK) != _CONTINUES
    return begins


def is_valid(text: str) -> bool:
    """Whether spaCy can hold a text: not where it has surrogates by themselves."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def hash_string(text: str) -> int:
    """MurmurHash of the UTF-8 text."""
    return int(_hash_string(text))


def hash_strings(texts: Iterable[str | None]) -> Keys1d:
    """Hashes of many texts, uint64; 0 for None."""
    hashes = [0 if text is None else _hash_string(text) for text in texts]
    return np.array(hashes, dtype=np.uint64)


class Utf8(NamedTuple):
    """Texts whose parts are to be hashed.

    content: uint8, their UTF-8, one after another, and what `hash_parts` needs after it. places:
    int64 `[C + 1]`, the first byte of each character, and the end. first: int64 `[n + 1]`, the
    first character of each text, and the number of all.
    """

    content: npt.NDArray[np.uint8]
    places: Pointers1d
    first: Pointers1d

    @classmethod
    def of(cls, joined: str, first: Pointers1d) -> Utf8:
        """Texts that stand one after another; first: the first character of each, and the end.

        Raises `UnicodeEncodeError` for a surrogate by itself.
        """
        content = np.frombuffer(joined.encode() + bytes(BLOCK), dtype=np.uint8)
        if joined.isascii():
            return cls(content, np.arange(len(joined) + 1), first)
        return cls(content, np.flatnonzero(begins_character(content))[: 1 - BLOCK], first)

    def hashes(self, start: Pointers1d, stop: Pointers1d) -> Keys1d:
        """Hashes of the characters from `start[i]` to before `stop[i]`, uint64."""
        return hash_parts(self.content, self.places[start], self.places[stop])

    def of_texts(self) -> Keys1d:
        """Hashes of the texts, uint64 `[n]`."""
        return self.hashes(self.first[:-1], self.first[1:])

    def collapsed(self) -> Utf8:
        """Texts of ASCII with each run of a character as one."""
        characters = self.content[:-BLOCK]
        begins = np.append(True, characters[1:] != characters[:-1])[: len(characters)]
        begins[self.first[:-1][np.diff(self.first) > 0]] = True
        n_before = np.append(0, np.cumsum(begins))
        content = np.append(characters[begins], self.content[-BLOCK:])
        return Utf8(content, np.arange(n_before[-1] + 1), n_before[self.first])
