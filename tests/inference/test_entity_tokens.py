"""Spans as what spaCy keeps of each token."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from spacy_cascade.inference.entity_tokens import add_entities

MISSING, INSIDE, OUTSIDE, BEGIN = range(4)
"""spaCy's `ENT_IOB`."""


def add(states: Sequence[int], *spans: tuple[int, int]) -> tuple[bool, np.ndarray, np.ndarray]:
    """Whether they are written; tokens before and after. Span `p` has the values 10·p + 1, 2, 3."""
    tokens = np.zeros((len(states), 4), dtype=np.uint64)
    tokens[:, 0] = states
    before = tokens.copy()
    bounds = np.array(spans, dtype=np.int64).reshape(-1, 2)
    values = [10 * np.arange(len(spans), dtype=np.uint64) + np.uint64(i) for i in (1, 2, 3)]
    is_added = add_entities(tokens, bounds[:, 0].copy(), bounds[:, 1].copy(), *values)
    return bool(is_added), before, tokens


@pytest.mark.parametrize(
    ("states", "spans", "expected"),
    [
        (
            [OUTSIDE] * 3 + [MISSING] * 3, [(0, 2), (2, 3), (4, 6)],
            [
                [BEGIN, 1, 2, 3], [INSIDE, 1, 2, 3], [BEGIN, 11, 12, 13], [OUTSIDE, 0, 0, 0],
                [BEGIN, 21, 22, 23], [INSIDE, 21, 22, 23],
            ],
        ),
        ([MISSING, BEGIN, MISSING], [], [[state, 0, 0, 0] for state in (OUTSIDE, BEGIN, OUTSIDE)]),
        ([BEGIN, INSIDE], [], [[BEGIN, 0, 0, 0], [INSIDE, 0, 0, 0]]),
        ([BEGIN, OUTSIDE, BEGIN], [(1, 2)], [[BEGIN, 0, 0, 0], [BEGIN, 1, 2, 3], [BEGIN, 0, 0, 0]]),
    ],
)  # fmt: skip
def test_spans_are_written(
    states: list[int], spans: list[tuple[int, int]], expected: list[list[int]]
) -> None:
    """Missing tokens are outside, and entities beside the spans stay."""
    is_added, _, tokens = add(states, *spans)
    assert is_added
    assert tokens.tolist() == expected


@pytest.mark.parametrize(
    ("states", "spans"),
    [
        ([OUTSIDE, BEGIN, OUTSIDE], [(0, 2)]),
        ([BEGIN, INSIDE, OUTSIDE], [(1, 3)]),
        ([OUTSIDE, OUTSIDE, BEGIN], [(0, 1), (1, 3)]),
        ([OUTSIDE] * 4, [(0, 2), (1, 3)]),
        ([OUTSIDE] * 4, [(2, 3), (0, 1)]),
    ],
)
def test_nothing_is_written_where_a_span_is_in_the_way(
    states: list[int], spans: list[tuple[int, int]]
) -> None:
    is_added, before, tokens = add(states, *spans)
    assert not is_added
    np.testing.assert_array_equal(tokens, before)
