"""Spans as arrays: of Docs, of a batch of Docs, and back.

A span has one of three forms: `LabelledSpan`, a tuple with the label as text, in its Doc; `Spans`,
arrays with numbers of labels; and spaCy's `Span`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from spacy.tokens import Doc, Span

from ...features.group_spans import outermost
from ...features.tokens import Tokens
from ...inference.schemes import Spans
from ...inference.spans import best_disjoint
from ...types import Bools1d, Floats1d, Pointers1d, Pointers2d

LabelledSpan: TypeAlias = tuple[int, int, str]
"""Start, end (exclusive) and label of a span in its Doc."""
Bounds: TypeAlias = tuple[int, int]
"""Start and end (exclusive) of a span in its Doc."""
BoundsArray: TypeAlias = Pointers2d
"""Start and end (exclusive) of spans, int64 `[P, 2]`."""

ENTITY = "ENT"
"""Label of spans whose types are collapsed."""
REJECTED = "O"
"""Name of the class of spans that are no entities."""
UNKNOWN = -1
"""Number of a label that the component does not know."""


def bounds_of(spans: Iterable[Span]) -> list[Bounds]:
    """Start and end of each span."""
    return [(span.start, span.end) for span in spans]


def as_array(bounds: Sequence[Bounds]) -> BoundsArray:
    """Bounds from a list of them."""
    return np.array(bounds, dtype=np.int64).reshape(-1, 2)


def in_batch(bounds: Sequence[BoundsArray], tokens: Tokens) -> BoundsArray:
    """Bounds in each Doc as bounds in the batch."""
    joined = np.concatenate([as_array([]), *bounds])
    offsets = np.repeat(tokens.doc_starts[: len(bounds)], [len(of_doc) for of_doc in bounds])
    return joined + offsets[:, None]


def place_spans(
    tokens: Tokens, spans: Sequence[Sequence[LabelledSpan]], numbers: Mapping[str, int] | None
) -> tuple[Spans, Bools1d]:
    """Spans of Docs, counted from the first token of the batch, and which a chain can have.

    spans: those of each Doc. numbers: of the labels; others are `UNKNOWN`; None where all labels
    are one. A chain can have spans of known labels that lie in one sequence; bool `[P]`.
    """
    rows = [
        (start + offset, end + offset, 0 if numbers is None else numbers.get(label, UNKNOWN))
        for offset, of_doc in zip(tokens.doc_starts.tolist(), spans, strict=False)
        for start, end, label in of_doc
    ]
    start, end, label = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    placed = Spans(start, end, label.astype(np.int32))
    return placed, possible_spans(tokens, placed)


def possible_spans(tokens: Tokens, spans: Spans) -> Bools1d:
    """Spans that a chain can have: in one sequence, and of known labels; bool `[P]`."""
    boundaries = tokens.sequence_starts
    crosses = spans.end > boundaries[np.searchsorted(boundaries, spans.start, side="right")]
    possible: Bools1d = ~crosses & (spans.label != UNKNOWN)
    return possible


def part_of(spans: Spans, part: slice, offset: int) -> Spans:
    """Some of the spans, counted from the token `offset`."""
    return Spans(spans.start[part] - offset, spans.end[part] - offset, spans.label[part])


def rows_of(spans: Spans) -> list[tuple[int, int, int]]:
    """Start, end and label number of each span."""
    return list(zip(*(part.tolist() for part in spans), strict=True))


def make_spans(doc: Doc, found: Spans, labels: Sequence[int]) -> list[Span]:
    """Spans of a Doc; labels: hashes of the labels by number."""
    return [Span(doc, start, end, labels[label]) for start, end, label in rows_of(found)]


def split_by_doc(values: Floats1d, spans: Sequence[Sequence[LabelledSpan]]) -> list[Floats1d]:
    """Values of the spans of a batch, for each Doc."""
    cuts = np.cumsum([0, *(len(of_doc) for of_doc in spans)]).tolist()
    return [values[begin:end] for begin, end in pairwise(cuts)]


def choose_disjoint(start: Pointers1d, end: Pointers1d, gains: Floats1d) -> Bools1d:
    """Which spans, in any order, have the largest sum of gains without overlap."""
    order = np.argsort(end, kind="stable")
    chosen = np.empty(len(end), dtype=np.bool_)
    best_disjoint(start[order], end[order], gains[order], chosen)
    found = np.empty_like(chosen)
    found[order] = chosen
    return found


def longest_disjoint(start: Pointers1d, end: Pointers1d) -> Pointers1d:
    """Numbers of the spans that stay, ascending, where of spans that overlap the longest one stays.

    Of spans of one length the first one, as `spacy.util.filter_spans` chooses.
    """
    order = outermost(start, end, np.arange(len(start)))
    if not (start[order[1:]] < end[order[:-1]]).any():
        return order
    taken = np.zeros(end.max(initial=0), dtype=np.bool_)
    kept = []
    for i in np.lexsort((start, start - end)).tolist():
        if not taken[start[i] : end[i]].any():
            taken[start[i] : end[i]] = True
            kept.append(i)
    found = np.array(kept, dtype=np.int64)
    return found[np.argsort(start[found], kind="stable")]
