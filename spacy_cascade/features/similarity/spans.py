"""What the measures are asked about: spans of a batch, and what they must not see."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...types import Floats1d, Ints1d, Keys1d, Pointers1d


class AskedSpans(NamedTuple):
    """Spans for kernels.

    words: uint64 `[T]`, in lower case. start, end: int64 `[U]`. doc: int64 `[U]`, number of each
    span's Doc, 0 for all where nothing is left out. owner: int32 `[N]`, for each term the Doc that
    must not see it, -1 for none; `[0]` where nothing is left out.
    """

    words: Keys1d
    start: Pointers1d
    end: Pointers1d
    doc: Pointers1d
    owner: Ints1d

    def take(self, spans: Pointers1d) -> AskedSpans:
        """Some of the spans."""
        return self._replace(start=self.start[spans], end=self.end[spans], doc=self.doc[spans])


class Nearest(NamedTuple):
    """The most similar term of each span.

    term: int32 `[U]`, its number, -1 where none is similar enough. similarity: float64 `[U]`, 0
    where there is none.
    """

    term: Ints1d
    similarity: Floats1d

    @classmethod
    def none(cls, n_spans: int) -> Nearest:
        return cls(np.full(n_spans, -1, dtype=np.int32), np.zeros(n_spans))
