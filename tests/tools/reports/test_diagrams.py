"""Axes, bins of confidences and thresholds against slow direct versions."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from spacy_cascade.tools.reports.costs import Judged
from spacy_cascade.tools.reports.diagrams import (
    MOST,
    SPARSE,
    STEPS,
    Bin,
    axis_around,
    measure_reliability,
    sweep,
)
from spacy_cascade.tools.reports.mistakes import compare

SHARES = st.floats(0, 1, allow_subnormal=False)


@given(st.lists(SHARES, min_size=1, max_size=20))
def test_axes_hold_the_data(values: list[float]) -> None:
    axis = axis_around(values)
    steps = [after - before for before, after in zip(axis.ticks, axis.ticks[1:], strict=False)]
    assert 1 <= len(steps) <= MOST
    assert steps == pytest.approx([steps[0]] * len(steps))
    assert f"{steps[0]:e}"[0] in "125"
    assert all(-1e-6 <= axis.place(value) <= 1 + 1e-6 for value in values)
    assert axis.ticks[0] >= 0
    assert axis.ticks[-1] <= 1 + 1e-9
    # Less than one step is empty at either end, except around a single point.
    if max(values) - min(values) > 0.02:
        assert min(values) - axis.ticks[0] < steps[0] + 1e-6
        assert axis.ticks[-1] - max(values) < steps[0] + 1e-6


def test_axes_by_hand() -> None:
    assert axis_around([0.776, 0.99]).ticks == [0.75, 0.8, 0.85, 0.9, 0.95, 1.0]
    assert axis_around([]).ticks == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert axis_around([1.0]).ticks == [0.99, 0.992, 0.994, 0.996, 0.998, 1.0]
    assert axis_around([0.5075]).ticks == [0.495, 0.5, 0.505, 0.51, 0.515, 0.52]


def test_a_tick_may_miss_the_data_by_a_billionth_of_a_step() -> None:
    """Rounding alone adds no step."""
    steps = [0.75, 0.8, 0.85, 0.9, 0.95]
    for share, is_missed in ((0.5e-9, True), (1.5e-9, False)):
        beyond = 0.05 * share
        below, above = axis_around([0.75 - beyond, 0.95]), axis_around([0.75, 0.95 + beyond])
        assert below.ticks == (steps if is_missed else [0.7, *steps])
        assert above.ticks == (steps if is_missed else [*steps, 1.0])


PAIRS = st.lists(st.tuples(st.integers(0, 1000), st.booleans()), max_size=60)


def slow_error(confidences: list[float], is_right: list[bool]) -> float:
    bins = defaultdict(list)
    for confidence, right in zip(confidences, is_right, strict=True):
        bins[min(9, int(10 * confidence))].append((confidence, right))
    error = 0.0
    for members in bins.values():
        confidence = sum(c for c, _ in members) / len(members)
        accuracy = sum(right for _, right in members) / len(members)
        error += len(members) / len(confidences) * abs(accuracy - confidence)
    return error


@given(PAIRS)
def test_error_is_that_of_the_definition(found: list[tuple[int, bool]]) -> None:
    confidences, is_right = [c / 1000 for c, _ in found], [right for _, right in found]
    reliability = measure_reliability(confidences, is_right)
    assert reliability.n == len(found) == sum(b.n for b in reliability.bins)
    assert reliability.error == pytest.approx(slow_error(confidences, is_right), abs=1e-12)
    for b in reliability.bins:
        assert b.n == 0 or b.low - 1e-9 <= b.confidence <= b.high + 1e-9
    n_right = sum(b.n * b.right for b in reliability.bins)
    assert n_right == pytest.approx(sum(is_right))


def test_bins_by_hand() -> None:
    reliability = measure_reliability(
        [0.0, 0.95, 1.0, 0.85, 0.85], [False, True, True, True, False]
    )
    bins = reliability.bins
    assert [b.n for b in bins] == [1, 0, 0, 0, 0, 0, 0, 0, 2, 2]
    assert bins[8].right == 0.5
    assert bins[9].confidence == pytest.approx(0.975)
    assert reliability.error == pytest.approx((2 * 0.35 + 2 * 0.025) / 5)


def test_what_rounding_puts_beyond_the_ends_is_at_the_ends() -> None:
    reliability = measure_reliability([-0.25, 1.25], [False, True])
    assert [b.confidence for b in reliability.bins if b.n] == [0.0, 1.0]
    assert reliability.error == 0.0


@given(st.integers(1, 400), st.data())
def test_intervals_are_those_of_wilson(n: int, data: st.DataObject) -> None:
    n_right = data.draw(st.integers(0, n))
    of_bin = Bin(0.5, 0.6, n, 0.55, n_right / n)
    truth = binomtest(n_right, n).proportion_ci(0.95, "wilson")
    assert of_bin.interval == pytest.approx((truth.low, truth.high), abs=1e-9)
    assert of_bin.is_sparse == (n < SPARSE)


def test_an_empty_bin_says_nothing() -> None:
    assert Bin(0.0, 0.1, 0, 0.0, 0.0).interval == (0.0, 1.0)
    assert not measure_reliability([0.55] * SPARSE, [True] * SPARSE).has_sparse
    assert measure_reliability([0.55] * (SPARSE - 1), [True] * (SPARSE - 1)).has_sparse


GOLD = [(0, 1, "A"), (2, 4, "B"), (5, 6, "A")]
FOUND = [(0, 1, "A"), (2, 4, "A"), (5, 6, "A"), (8, 9, "B")]


def judged(confidences: list[float | None]) -> Judged:
    return Judged(compare(GOLD, FOUND), confidences, [None] * len(GOLD), [])


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_scores_are_those_of_the_entities_that_are_left(confidences: list[float]) -> None:
    found = sweep([judged(list(confidences))])
    assert found is not None
    assert len(found.thresholds) == len(found.scores) == STEPS + 1
    for threshold, score in found.every(7):
        left = [e for e, c in zip(FOUND, confidences, strict=True) if c >= threshold]
        assert score.n_predicted == len(left)
        assert score.n_right == len(set(left) & set(GOLD))
        assert score.n_gold == 3
    best = found.scores[found.best].f1
    assert best == max(score.f1 for score in found.scores)


def test_entities_without_confidence_are_kept() -> None:
    found = sweep([judged([0.5, None, 0.2, None])])
    assert found is not None
    assert [score.n_predicted for _, score in found.every(50)] == [4, 3, 2]
    assert sweep([judged([None] * 4)]) is None
    assert sweep([]) is None
