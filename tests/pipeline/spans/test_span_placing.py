"""Spans of Docs as spans of a batch, and back."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import blank, make_doc
from spacy_cascade.features.tokens import read_tokens
from spacy_cascade.inference.schemes import Spans
from spacy_cascade.pipeline.spans.placing import (
    UNKNOWN,
    as_array,
    bounds_of,
    choose_disjoint,
    in_batch,
    make_spans,
    part_of,
    place_spans,
    rows_of,
    split_by_doc,
)

VOCAB = blank().vocab
DOCS = [make_doc(VOCAB, "a b c d", [0, 2]), make_doc(VOCAB, ""), make_doc(VOCAB, "e f g")]
TOKENS = read_tokens(DOCS, ())
SPANS = [[(0, 2, "X"), (1, 3, "X"), (2, 4, "Z")], [], [(0, 3, "Y")]]


@pytest.mark.parametrize(
    ("numbers", "labels"), [({"X": 0, "Y": 1}, [0, 0, UNKNOWN, 1]), (None, [0, 0, 0, 0])]
)
def test_spans_are_placed_and_those_that_no_chain_has_are_told(
    numbers: dict[str, int] | None, labels: list[int]
) -> None:
    """They cross a sentence, or their label is not known."""
    placed, possible = place_spans(TOKENS, SPANS, numbers)
    bounds = [(0, 2), (1, 3), (2, 4), (4, 7)]
    assert rows_of(placed) == [(*b, label) for b, label in zip(bounds, labels, strict=True)]
    assert possible.tolist() == [True, False, labels[2] != UNKNOWN, True]
    assert placed.label.dtype == np.int32
    nothing, none = place_spans(TOKENS, [[], [], []], numbers)
    assert rows_of(nothing) == none.tolist() == []
    assert nothing.start.dtype == nothing.end.dtype == np.int64


def test_bounds_are_counted_in_the_batch_and_values_given_back() -> None:
    bounds = [as_array([(s, e) for s, e, _ in spans]) for spans in SPANS]
    assert in_batch(bounds, TOKENS).tolist() == [[0, 2], [1, 3], [2, 4], [4, 7]]
    assert in_batch([], TOKENS).shape == as_array([]).shape == (0, 2)
    assert as_array([]).dtype == np.int64
    values = split_by_doc(np.arange(4.0), SPANS)
    assert [part.tolist() for part in values] == [[0, 1, 2], [], [3]]


def test_spans_of_a_part_are_made() -> None:
    spans = Spans(np.array([4, 5, 6]), np.array([5, 7, 7]), np.array([0, 1, 0]))
    part = part_of(spans, slice(1, 3), 4)
    assert rows_of(part) == [(1, 3, 1), (2, 3, 0)]
    made = make_spans(DOCS[2], part, [VOCAB.strings.add("X"), VOCAB.strings.add("Y")])
    assert [(span.text, span.label_) for span in made] == [("f g", "Y"), ("g", "X")]
    assert bounds_of(made) == [(1, 3), (2, 3)]


def test_spans_of_the_largest_sum_stay() -> None:
    start, end = np.array([2, 0, 1, 3, 3]), np.array([3, 2, 3, 4, 5])
    for gains, expected in [([1, 2, 4, 1, 0], [2, 3]), ([2, 3, 4, 1, 3], [0, 1, 4])]:
        chosen = choose_disjoint(start, end, np.array(gains, dtype=float))
        assert np.flatnonzero(chosen).tolist() == expected
    assert choose_disjoint(start[:0], end[:0], np.zeros(0)).tolist() == []
