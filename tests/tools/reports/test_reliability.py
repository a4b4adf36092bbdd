"""Bins and the expected calibration error against a slow direct version."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from spacy_cascade.tools.reports.reliability import SPARSE, Bin, measure_reliability

FOUND = st.lists(st.tuples(st.integers(0, 1000), st.booleans()), max_size=60)


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


@given(FOUND)
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


def test_confidences_that_tell_the_truth_have_a_small_error(generator: np.random.Generator) -> None:
    confidences = generator.random(20_000)
    honest = measure_reliability(list(confidences), list(generator.random(20_000) < confidences))
    boastful = measure_reliability(
        list(confidences**0.25), list(generator.random(20_000) < confidences)
    )
    assert honest.error < 0.02
    assert boastful.error > 0.2


def test_nothing_has_no_error() -> None:
    assert measure_reliability([], []).error == 0.0


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
