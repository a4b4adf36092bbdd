"""The table of distinct words: each gets a row, its attributes are computed once.

BinaryCSR hold values, not references to spaCy's strings, so the table survives
`nlp.memory_zone()`. BinaryCSR are added and never changed, so what a thread has got of the table
stays as it is while others add to it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..numeric.index import KeyIndex
from ..parallel import LEXEME_LOCK
from ..types import Ints1d, Keys1d, Keys2d
from .plan import Plan
from .strings import hash_string, hash_strings
from .templates import Templates
from .word_counts import SHARES, share_value

BOUNDARY = 0
"""Row of the word that stands before and after every sequence."""
_BOUNDARY_KEY = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_CODE_FACTOR = np.uint64(0xD6E8FEB86659FD93)
_BOUNDARY_VALUES = ("word", "lower")


class LexemeTable:
    """BinaryCSR of attribute hashes by spaCy's hash of the word and the word's evidence code.

    templates, plan: what to compute. `attributes` is uint64 `[n, A]` in the order of
    `plan.attributes`, 0 where an attribute says nothing.
    """

    def __init__(self, templates: Templates, plan: Plan) -> None:
        self._text_columns = [
            (column, templates.text_function(name))
            for column, name in enumerate(plan.attributes)
            if name not in SHARES
        ]
        self._share_columns = [
            (column, SHARES.index(name))
            for column, name in enumerate(plan.attributes)
            if name in SHARES
        ]
        self._index = KeyIndex(np.array([_BOUNDARY_KEY], dtype=np.uint64))
        self._attributes = np.zeros((64, len(plan.attributes)), dtype=np.uint64)
        self._forms = KeyIndex(np.array([_BOUNDARY_KEY], dtype=np.uint64))
        self._form_of = np.zeros(64, dtype=np.int32)
        self._origins = np.zeros((64, 2), dtype=np.uint64)
        boundary = hash_string("\ue000boundary")
        for column, name in enumerate(plan.attributes):
            self._attributes[BOUNDARY, column] = boundary if name in _BOUNDARY_VALUES else 0

    def __len__(self) -> int:
        return len(self._index)

    @property
    def attributes(self) -> Keys2d:
        """Attribute hashes by row, uint64 `[n, A]`."""
        with LEXEME_LOCK:
            return self._attributes[: len(self)]

    @property
    def form_of(self) -> Ints1d:
        """Number of the word in lower case by row, int32 `[n]`."""
        with LEXEME_LOCK:
            return self._form_of[: len(self)]

    @property
    def origins(self) -> Keys2d:
        """Hash of the word and evidence code by row, uint64 `[n, 2]`; zeros for the boundary."""
        with LEXEME_LOCK:
            return self._origins[: len(self)]

    def rows(self, words: Keys1d, codes: Keys1d | None, text_of: Callable[[int], str]) -> Ints1d:
        """Row of each word, int32 `[T]`; words not met before are added.

        words: spaCy's 64-bit string hashes. codes: evidence codes, None where no template
        reads them. text_of: gives the text of such a hash.
        """
        keys = words if codes is None else words ^ (codes * _CODE_FACTOR)
        with LEXEME_LOCK:
            rows = self._index.lookup(keys)
            if len(rows) and rows.min() < 0:
                # In the order of the text, so that rows of frequent words lie close together.
                _, first = np.unique(keys[rows < 0], return_index=True)
                new = np.flatnonzero(rows < 0)[np.sort(first)]
                self._add(keys[new], words[new], None if codes is None else codes[new], text_of)
                rows = self._index.lookup(keys)
        return rows

    def _add(
        self, keys: Keys1d, words: Keys1d, codes: Keys1d | None, text_of: Callable[[int], str]
    ) -> None:
        size = len(self) + len(keys)
        if size > len(self._attributes):
            grown = np.zeros((2 * size, self._attributes.shape[1]), dtype=np.uint64)
            grown[: len(self)] = self.attributes
            self._attributes = grown
            self._form_of = np.append(self.form_of, np.zeros(2 * size - len(self), np.int32))
            more = np.zeros((2 * size - len(self), 2), dtype=np.uint64)
            self._origins = np.concatenate([self.origins, more])
        texts = [text_of(word) for word in words.tolist()]
        new = self._attributes[len(self) : size]
        for column, function in self._text_columns:
            new[:, column] = hash_strings(map(function, texts))
        if codes is not None:
            for column, share in self._share_columns:
                distinct, inverse = np.unique(codes, return_inverse=True)
                values = hash_strings(share_value(code, share) for code in distinct.tolist())
                new[:, column] = values[inverse]
        self._origins[len(self) : size, 0] = words
        if codes is not None:
            self._origins[len(self) : size, 1] = codes
        lower = hash_strings(text.lower() for text in texts)
        self._forms.add(np.unique(lower[self._forms.lookup(lower) < 0]))
        self._form_of[len(self) : size] = self._forms.lookup(lower)
        self._index.add(keys)
