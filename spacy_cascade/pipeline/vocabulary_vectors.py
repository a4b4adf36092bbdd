"""The word vectors of a pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
from spacy.attrs import LOWER
from spacy.vocab import Vocab
from thinc.api import to_numpy

from ..features.strings import hash_strings
from ..types import Reals2d


class VocabularyVectors:
    """Vectors of words of a vocabulary.

    A word without a vector gets that of its lower case. A floret table has vectors of all words.
    """

    def __init__(self, vocab: Vocab) -> None:
        self._table: Any = vocab.vectors
        self._strings = vocab.strings

    @classmethod
    def of_vocabulary(cls, vocab: Vocab) -> VocabularyVectors | None:
        """Those of a vocabulary, None where it has none."""
        return cls(vocab) if all(vocab.vectors.shape) else None

    @property
    def width(self) -> int:
        return int(self._table.shape[1])

    def of(self, texts: Sequence[str]) -> Reals2d:
        if getattr(self._table, "attr", None) == LOWER:
            return self._rows([text.lower() for text in texts])
        vectors = self._rows(texts)
        unknown = np.flatnonzero(~vectors.any(axis=1))
        vectors[unknown] = self._rows([texts[i].lower() for i in unknown.tolist()])
        return vectors

    def text_of(self, word: int) -> str:
        return str(self._strings[word])

    def first_words(self, n: int) -> list[str]:
        keys = islice(getattr(self._table, "key2row", ()), n)
        return [str(self._strings[key]) for key in keys if key in self._strings]

    def _rows(self, texts: Sequence[str]) -> Reals2d:
        """Rows of the table, float32; zeros for words that it does not have, or has no numbers of.

        The table itself gives its last row for a word that it does not have.
        """
        vectors = np.zeros((len(texts), self.width), dtype=np.float32)
        known = [i for i, key in enumerate(hash_strings(texts).tolist()) if key in self._table]
        if known:
            found = self._table.get_batch([texts[i] for i in known])
            vectors[known] = to_numpy(found)  # type: ignore[no-untyped-call]
        vectors[~np.isfinite(vectors).all(axis=1)] = 0.0
        return vectors
