"""The characters of words in lower case, for kernels: each distinct word is read once.

Like the table of lexemes it holds values, not references to spaCy's strings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...features.attributes import TextOf
from ...features.strings import hash_strings
from ...numeric.arrays import Array, grown
from ...numeric.index import KeyIndex
from ...parallel import LEXEME_LOCK
from ...types import Bools1d, Ints1d, Keys1d, Pointers1d

LONGEST = 100
"""Words with more characters are not spelled."""
MOST_KEPT = 1 << 17
"""Beyond so many words it starts anew."""
IS_WORD, HAS_LETTER, BEGINS_WORD, JOINS = 1, 2, 4, 8
"""Flags of words: a letter or digit in it; a letter; one at its start; a hyphen or dash."""
_JOINING = frozenset("-/\u2013\u2010\u2011")


class Spelling(NamedTuple):
    """Words by row.

    start: int64 `[n + 1]`, of the characters of each word. characters: code points of the word in
    lower case, uint32. is_word_character: whether they are letters or digits. length: int32 `[n]`,
    number of characters as the word is written. flags: int32 `[n]`. lower: uint64 `[n]`, hashes of
    the words in lower case. other_number: of the words with a final `s`, or without it where they
    have one.
    """

    start: Pointers1d
    characters: Ints1d
    is_word_character: Bools1d
    length: Ints1d
    flags: Ints1d
    lower: Keys1d
    other_number: Keys1d


class SpelledWords:
    """The words met so far."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._index = KeyIndex()
        no_ints, no_keys = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.uint64)
        start, flags = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.bool_)
        self._spelling = Spelling(start, no_ints, flags, no_ints, no_ints, no_keys, no_keys)

    def __len__(self) -> int:
        return len(self._index)

    def rows(self, words: Keys1d, text_of: TextOf) -> tuple[Ints1d, Spelling]:
        """Row of each word, int32, and what the rows hold; words not met before are added.

        words: spaCy's 64-bit string hashes. text_of: gives the text of a hash.
        """
        with LEXEME_LOCK:
            if len(self) > MOST_KEPT:
                self._forget()
            rows = self._index.lookup(words)
            if len(rows) and rows.min() < 0:
                new = np.unique(words[rows < 0])
                self._add([text_of(word) for word in new.tolist()])
                self._index.add(new)
                rows = self._index.lookup(words)
            return rows, self._spelling

    def _add(self, texts: Sequence[str]) -> None:
        known, n = self._spelling, len(self)
        lower = [text.lower() if len(text) <= LONGEST else "" for text in texts]
        joined = "".join(lower)
        n_characters = int(known.start[n])
        ends = n_characters + np.cumsum([len(text) for text in lower])
        other = [text[:-1] if text.endswith("s") else text + "s" for text in texts]
        self._spelling = Spelling(
            _put(known.start, n + 1, ends),
            _put(known.characters, n_characters, [ord(character) for character in joined]),
            _put(known.is_word_character, n_characters, list(map(str.isalnum, joined))),
            _put(known.length, n, list(map(len, texts))),
            _put(known.flags, n, list(map(_flags, texts))),
            _put(known.lower, n, hash_strings(text.lower() for text in texts)),
            _put(known.other_number, n, hash_strings(other)),
        )


def _flags(text: str) -> int:
    shown = text[:LONGEST]
    return (
        IS_WORD * any(map(str.isalnum, shown))
        | HAS_LETTER * any(map(str.isalpha, shown))
        | BEGINS_WORD * shown[:1].isalnum()
        | JOINS * (text in _JOINING)
    )


def _put(array: Array, begin: int, values: object) -> Array:
    """The array with the values from `begin` on, a longer one if they need it."""
    added = np.asarray(values, dtype=array.dtype)
    end = begin + len(added)
    if end > len(array):
        array = grown(array[:begin], 2 * end)
    array[begin:end] = added
    return array
