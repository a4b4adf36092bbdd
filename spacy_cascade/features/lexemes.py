"""The table of distinct words: each gets a row, its attributes are computed once.

Rows hold values, not references to spaCy's strings, so the table survives
`nlp.memory_zone()`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..types import Ints1d, Keys1d, Keys2d
from .index import KeyIndex
from .plan import Plan
from .strings import hash_string
from .templates import Templates

BOUNDARY = 0
"""Row of the word that stands before and after every sequence."""
_BOUNDARY_KEY = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_BOUNDARY_VALUES = ("word", "lower")


class LexemeTable:
    """Rows of attribute hashes by spaCy's hash of the word.

    templates, plan: what to compute. `attributes` is uint64 `[n, A]` in the order of
    `plan.attributes`, 0 where an attribute says nothing.
    """

    def __init__(self, templates: Templates, plan: Plan) -> None:
        self._functions = [templates.text_function(name) for name in plan.attributes]
        self._index = KeyIndex(np.array([_BOUNDARY_KEY], dtype=np.uint64))
        self._attributes = np.zeros((64, len(plan.attributes)), dtype=np.uint64)
        boundary = hash_string("\ue000boundary")
        for column, name in enumerate(plan.attributes):
            self._attributes[BOUNDARY, column] = boundary if name in _BOUNDARY_VALUES else 0

    def __len__(self) -> int:
        return len(self._index)

    @property
    def attributes(self) -> Keys2d:
        """Attribute hashes by row, uint64 `[n, A]`."""
        return self._attributes[: len(self)]

    def rows(self, words: Keys1d, text_of: Callable[[int], str]) -> Ints1d:
        """Row of each word, int32 `[T]`; words not met before are added.

        words: spaCy's 64-bit string hashes. text_of: gives the text of such a hash.
        """
        rows = self._index.lookup(words)
        if len(rows) and rows.min() < 0:
            new = np.unique(words[rows < 0])
            self._add(new, text_of)
            rows = self._index.lookup(words)
        return rows

    def _add(self, words: Keys1d, text_of: Callable[[int], str]) -> None:
        size = len(self) + len(words)
        if size > len(self._attributes):
            grown = np.zeros((2 * size, self._attributes.shape[1]), dtype=np.uint64)
            grown[: len(self)] = self.attributes
            self._attributes = grown
        functions = self._functions
        for row, word in enumerate(words.tolist(), start=len(self)):
            text = text_of(word)
            values = [function(text) for function in functions]
            self._attributes[row] = [0 if v is None else hash_string(v) for v in values]
        self._index.add(words)
