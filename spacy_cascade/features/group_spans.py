"""The spans of a span group of Docs as arrays, with their confidences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from spacy.tokens import Doc

from ..types import Floats1d, Keys1d, Pointers1d

CONFIDENCE_ATTRIBUTE = "scores"
"""Key of a span group's attributes under which the confidences stand, as in spancat."""


class GroupSpans(NamedTuple):
    """Spans of a group, in ascending order and without overlap.

    start, end (exclusive): int64 `[F]`. label: uint64 `[F]`, spaCy's hashes. confidence: float64
    `[F]`, 1 where the group gives none.
    """

    start: Pointers1d
    end: Pointers1d
    label: Keys1d
    confidence: Floats1d

    def tokens(self) -> Pointers1d:
        """Numbers of the tokens in spans, span by span."""
        lengths = self.end - self.start
        before = np.cumsum(lengths) - lengths
        numbers: Pointers1d = np.arange(lengths.sum()) + np.repeat(self.start - before, lengths)
        return numbers


def read_group(doc: Doc, key: str) -> GroupSpans:
    """The spans of `doc.spans[key]`; none where the Doc has no such group.

    Where spans overlap, the longest one is kept, and the last one of those that are equally long.
    """
    group = doc.spans.get(key, ())
    scores = getattr(group, "attrs", {}).get(CONFIDENCE_ATTRIBUTE)
    if scores is None or len(scores) != len(group):
        scores = np.ones(len(group))
    spans = [(span.start, span.end, span.label) for span in group]
    bounds = sorted((start, end, i) for i, (start, end, _) in enumerate(spans) if start < end)
    if any(right[0] < left[1] for left, right in pairwise(bounds)):
        bounds = _disjoint(bounds)
    numbers = [i for _, _, i in bounds]
    table = np.array(bounds, dtype=np.int64).reshape(-1, 3)
    return GroupSpans(
        table[:, 0],
        table[:, 1],
        np.array([spans[i][2] for i in numbers], dtype=np.uint64),
        np.asarray(scores, dtype=np.float64)[numbers],
    )


def _disjoint(bounds: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    taken: set[int] = set()
    kept = []
    for start, end, i in sorted(bounds, key=lambda b: (b[1] - b[0], b[2]), reverse=True):
        if taken.isdisjoint(range(start, end)):
            taken.update(range(start, end))
            kept.append((start, end, i))
    return sorted(kept)


def join_groups(parts: Sequence[GroupSpans], offsets: Sequence[int]) -> GroupSpans:
    """Groups as one, each counted from its own offset."""
    start = [part.start + offset for part, offset in zip(parts, offsets, strict=True)]
    end = [part.end + offset for part, offset in zip(parts, offsets, strict=True)]
    none = np.zeros(0)
    return GroupSpans(
        np.concatenate([none.astype(np.int64), *start]),
        np.concatenate([none.astype(np.int64), *end]),
        np.concatenate([none.astype(np.uint64), *(part.label for part in parts)]),
        np.concatenate([none, *(part.confidence for part in parts)]),
    )
