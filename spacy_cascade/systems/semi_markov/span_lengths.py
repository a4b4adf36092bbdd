"""How long the spans of the training corpus are, and so how long segments can be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...features.resources import FlaggedTokens, InvalidArray, Resource, ResourceSpec
from ...features.tokens import Tokens
from ...numeric.arrays import Array, Arrays, Shapes
from ...types import Ints1d, Ints2d, Pointers1d, Pointers2d

SHARE = 0.998
"""Of the spans that the longest segment is chosen to hold."""
LONGEST = 64
"""No longer segment is chosen by itself."""


def gold_bounds(flags: Ints2d) -> Pointers2d:
    """Start and end of the gold spans, int64 `[P, 2]`; flags: `resources.span_flags`."""
    return np.stack([np.flatnonzero(flags[:, 2]), np.flatnonzero(flags[:, 3]) + 1], axis=1)


class SpanLengths(Resource):
    """Numbers of gold spans by their length; counts int64 `[n]`, of lengths 1 to n."""

    def __init__(self, counts: Ints1d) -> None:
        self.counts = counts

    @classmethod
    def empty(cls) -> SpanLengths:
        return cls(np.zeros(0, dtype=np.int32))

    def longest(self) -> int:
        """The least length that no more than `1 - SHARE` of the spans exceed, 1 to `LONGEST`."""
        shares = np.cumsum(self.counts) / max(1, self.counts.sum())
        return int(np.clip(np.searchsorted(shares, SHARE) + 1, 1, LONGEST))

    def n_longer(self, longest: int) -> int:
        """Spans of more tokens."""
        return int(self.counts[longest:].sum())

    def learn(self, tokens: Tokens, flags: Ints2d) -> SpanLengths:
        return SpanLengths(_lengths(flags).astype(np.int32))

    def learn_in_blocks(self, blocks: FlaggedTokens) -> SpanLengths:
        total = np.zeros(0, dtype=np.int64)
        for _, flags in blocks():
            total, more = sorted((total, _lengths(flags)), key=len, reverse=True)
            total[: len(more)] += more
        return SpanLengths(total.astype(np.int32))

    def arrays(self) -> Arrays:
        return {"counts": self.counts}

    @classmethod
    def shapes(cls, arrays: Mapping[str, Array], settings: Any) -> Shapes:
        return {"counts": ((arrays["counts"].size if "counts" in arrays else 0,), "i4")}

    @classmethod
    def check(cls, arrays: Mapping[str, Array]) -> None:
        if (arrays["counts"] < 0).any():
            raise InvalidArray("counts", "has negative counts")

    @classmethod
    def restore(cls, arrays: Mapping[str, Array], settings: Any) -> SpanLengths:
        return cls(arrays["counts"].astype(np.int32))


def _lengths(flags: Ints2d) -> Pointers1d:
    """Numbers of gold spans of 1, 2 … tokens."""
    bounds = gold_bounds(flags)
    return np.bincount(bounds[:, 1] - bounds[:, 0], minlength=1)[1:]


SPAN_LENGTHS = ResourceSpec(SpanLengths, "span_lengths")
