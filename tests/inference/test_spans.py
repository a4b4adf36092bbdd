"""The best disjoint spans against enumeration of sets; likely ones: `test_structure.py`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import best_disjoint_gain
from spacy_cascade.inference.spans import best_disjoint

SPAN = st.tuples(st.integers(0, 7), st.integers(1, 4))


@settings(max_examples=60)
@given(st.lists(st.tuples(SPAN, st.floats(-1.0, 1.0)), max_size=7))
def test_the_best_disjoint_spans(drawn):
    drawn = sorted(drawn, key=lambda item: sum(item[0]))
    bounds = [(start, start + length) for (start, length), _ in drawn]
    start, end = np.array(bounds, dtype=np.int64).reshape(-1, 2).T
    gains = np.array([gain for _, gain in drawn], dtype=np.float64)
    chosen = np.ones(len(drawn), dtype=np.bool_)
    best_disjoint(start.copy(), end.copy(), gains, chosen)
    tokens = [t for t, c in zip(bounds, chosen, strict=True) if c for t in range(*t)]
    assert len(tokens) == len(set(tokens))
    assert (gains[chosen] >= 0).all()
    assert gains[chosen].sum() == pytest.approx(best_disjoint_gain(bounds, gains.tolist()))


@pytest.mark.parametrize(
    ("bounds", "gains", "expected"),
    [
        ([(0, 1), (2, 3), (1, 4)], [0.0, 0.5, 0.0], [True, True, False]),
        ([(0, 0), (1, 1), (2, 3)], [0.5, 0.5, 0.5], [False, False, True]),
        ([(0, 1), (1, 2), (2, 3)], [0.5, 0.5, 0.5], [True, True, True]),
    ],
    ids=["gain nothing", "empty", "side by side"],
)
def test_spans_at_the_edge(bounds, gains, expected):
    """Those that gain nothing are chosen where there is room; empty ones never, which others put
    into groups.
    """
    chosen = np.zeros(3, dtype=np.bool_)
    start, end = np.array(bounds, dtype=np.int64).T.copy()
    best_disjoint(start, end, np.array(gains), chosen)
    assert chosen.tolist() == expected
