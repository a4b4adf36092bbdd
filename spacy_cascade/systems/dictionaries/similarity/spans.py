"""What the measures are asked about: spans of a batch, and what they must not see."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....jit import helper, kernel
from ....types import Floats1d, Ints1d, Keys1d, Pointers1d


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

    @property
    def longest(self) -> int:
        """Tokens of the longest span."""
        return int((self.end - self.start).max(initial=0))


class Found(NamedTuple):
    """The most similar term of each span.

    term: int32 `[U]`, its number, -1 where none is similar enough. similarity: float64 `[U]`, 0
    where there is none. step: int32 `[U]`, the step that the similarity is in (`Measure.steps`),
    from 1, 0 where there is none; all that is known of spans that a memory had.
    """

    term: Ints1d
    similarity: Floats1d
    step: Ints1d


@kernel
def make_found(n: int) -> Found:
    """That there is none for n spans."""
    return Found(np.full(n, -1, dtype=np.int32), np.zeros(n), np.zeros(n, dtype=np.int32))


@helper
def enter_found(found, u, term, similarity, edges):  # type: ignore[no-untyped-def]
    """Write what was found for a span; returns the step. edges: where each step begins."""
    found.term[u], found.similarity[u] = term, similarity
    step = 0
    if term >= 0:
        while step < len(edges) and similarity >= edges[step]:
            step += 1
    return step
