"""Spans that are given to a component, rather than found by it, as spans of a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from ...features.tokens import Tokens
from ...inference.schemes import Spans
from ...types import Bools1d, Floats1d

LabelledBounds = tuple[int, int, str]
"""Start, end (exclusive) and label of a span in its Doc."""

UNKNOWN = -1
"""Number of a label that the component does not know."""


def place_spans(
    tokens: Tokens, spans: Sequence[Sequence[LabelledBounds]], numbers: Mapping[str, int]
) -> tuple[Spans, Bools1d]:
    """Spans of Docs, counted from the first token of the batch, and which a chain can have.

    spans: those of each Doc. numbers: of the labels; others are `UNKNOWN`. A chain can have
    spans of known labels that lie in one sequence; bool `[P]`.
    """
    rows = [
        (start + offset, end + offset, numbers.get(label, UNKNOWN))
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


def select(spans: Spans, mask: Bools1d) -> Spans:
    """Some of the spans."""
    return Spans(spans.start[mask], spans.end[mask], spans.label[mask])


def split_by_doc(values: Floats1d, spans: Sequence[Sequence[LabelledBounds]]) -> list[Floats1d]:
    """Values of the spans of a batch, for each Doc."""
    cuts = np.cumsum([0, *(len(of_doc) for of_doc in spans)]).tolist()
    return [values[begin:end] for begin, end in pairwise(cuts)]
