"""The set of the greatest expected F1: against all sets, and what its threshold means."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import best_expected_f1
from spacy_cascade.pipeline.spans.expected_f1 import Choice, most_expected_f1

LENGTH = 8
spans_with_posteriors = st.lists(
    st.tuples(st.integers(0, LENGTH - 1), st.integers(1, 3), st.floats(0.01, 1.0, allow_nan=False)),
    min_size=1,
    max_size=9,
)


def choose(
    spans: list[tuple[int, int]], posteriors: list[float], n_expected: float | None = None
) -> Choice:
    start, end = np.array(spans, dtype=np.int64).T
    total = sum(posteriors) if n_expected is None else n_expected
    return most_expected_f1(start, end, np.array(posteriors), total)


@given(spans_with_posteriors, st.floats(0.0, 3.0))
def test_no_set_without_overlap_has_a_greater_expected_f1(
    drawn: list[tuple[int, int, float]], unlisted: float
) -> None:
    """Overlapping and equal spans included; unlisted: expected gold spans beside them."""
    spans = [(start, start + length) for start, length, _ in drawn]
    posteriors = [p for *_, p in drawn]
    total = sum(posteriors) + unlisted
    found = choose(spans, posteriors, total)
    assert found.f1 == pytest.approx(best_expected_f1(spans, posteriors, total))
    right = sum(np.array(posteriors)[found.chosen])
    assert 2 * right / (found.chosen.sum() + total) == pytest.approx(found.f1)
    tokens = [t for i in np.flatnonzero(found.chosen) for t in range(*spans[i])]
    assert len(tokens) == len(set(tokens))


@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=30))
def test_without_overlap_all_spans_above_the_threshold_are_chosen(posteriors: list[float]) -> None:
    """The optimum over all thresholds, which is at half the F1."""
    found = choose([(i, i + 1) for i in range(len(posteriors))], posteriors)
    sure = np.array(posteriors)
    by_number = [
        2 * np.sort(sure)[::-1][:n].sum() / (n + sure.sum()) for n in range(1, len(sure) + 1)
    ]
    assert found.f1 == pytest.approx(max(by_number))
    assert found.threshold == found.f1 / 2
    clear = np.abs(sure - found.threshold) > 1e-9
    np.testing.assert_array_equal(found.chosen[clear], sure[clear] > found.threshold)


def test_sure_spans_promise_an_f1_of_one() -> None:
    found = choose([(0, 1), (2, 4)], [1.0, 1.0])
    assert (found.f1, found.chosen.tolist()) == (1.0, [True, True])


def test_likely_spans_win_over_unlikely_neighbours() -> None:
    """The most probable whole has the long span; two short ones have more right on average."""
    found = choose([(0, 3), (0, 1), (2, 3)], [0.5, 0.45, 0.45])
    assert found.chosen.tolist() == [False, True, True]
    found = choose([(0, 3), (0, 1), (2, 3)], [0.9, 0.1, 0.1])
    assert found.chosen.tolist() == [True, False, False]
