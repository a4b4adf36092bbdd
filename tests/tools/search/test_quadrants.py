"""The coarse-to-fine search, on functions whose optimum is known."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_cascade import ConfigError
from spacy_cascade.tools.search.quadrants import Axis, Point, quadrants, search

SIGMA, KAPPA = Axis("sigma", 0.01, 1.0, is_log=True), Axis("kappa", 0.0, 8.0)


@settings(max_examples=50)
@given(st.floats(0.011, 0.99), st.floats(0.1, 7.9))
def test_it_closes_in_on_the_optimum(sigma: float, kappa: float) -> None:
    """Each kept quadrant has the optimum of a function that falls off alike in all directions."""

    def scores(points: list[Point]) -> list[float]:
        return [
            -(abs(math.log(s / sigma) / math.log(100)) + abs((k - kappa) / 8)) for s, k in points
        ]

    found = search([SIGMA, KAPPA], scores, 6)
    for box in found.boxes:
        assert box[0].low * 0.999 <= sigma <= box[0].high * 1.001
        assert box[1].low - 0.001 <= kappa <= box[1].high + 0.001


def test_every_cut_halves_each_side() -> None:
    tried: list[list[Point]] = []

    def scores(points: list[Point]) -> list[float]:
        tried.append(points)
        return [len(tried) + point[1] for point in points]

    found = search([SIGMA, KAPPA], scores, 4)
    assert [len(points) for points in tried] == [4] * 4
    for outer, inner in zip(found.boxes, found.boxes[1:], strict=False):
        assert inner[1].high - inner[1].low == pytest.approx((outer[1].high - outer[1].low) / 2)
        ratio = math.log(inner[0].high / inner[0].low) / math.log(outer[0].high / outer[0].low)
        assert ratio == pytest.approx(0.5)
    assert found.boxes[-1][1].high == 8.0
    assert tried[0][0] == (0.03162, 2.0)


def test_it_stops_where_a_box_brings_no_gain() -> None:
    rounds: list[list[float]] = [[1.0, 3.0, 3.0, 2.0], [2.0, 3.0, 1.0, 0.0], [9.0] * 4]
    left = iter(rounds)
    found = search([SIGMA, KAPPA], lambda points: next(left), 5)
    assert (found.score, found.point) == (3.0, (0.03162, 6.0))
    assert len(found.boxes) == 2
    assert next(left) == [9.0] * 4


def test_without_any_score_the_middle_is_left() -> None:
    found = search([SIGMA, KAPPA], lambda points: [math.nan] * 4, 5)
    assert (found.score, found.point, len(found.boxes)) == (-math.inf, (0.1, 4.0), 1)


def test_whole_numbers_and_one_axis() -> None:
    tried: list[Point] = []

    def scores(points: list[Point]) -> list[float]:
        tried.extend(points)
        return [-abs(point[0] - 2) for point in points]

    found = search([Axis("min_count", 1, 9, is_integer=True)], scores, 5)
    assert found.point == (2,)
    assert all(isinstance(value, int) for (value,) in tried)


def test_parts_of_three_axes() -> None:
    box = (SIGMA, KAPPA, Axis("x", -1, 1))
    parts = quadrants(box)
    assert len(set(parts)) == 8
    assert {part[2].low for part in parts} == {-1, 0}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Axis("x", 2, 1), "cannot be searched from 2 to 1"),
        (lambda: Axis("x", 1, 1), "cannot be searched from 1 to 1"),
        (lambda: Axis("x", 0, math.inf), "cannot be searched"),
        (lambda: Axis("x", 0, 1, is_log=True), "Choose a range above 0"),
        (lambda: search([], lambda points: [], 3), "1 to 4 settings"),
        (lambda: search([KAPPA] * 5, lambda points: [], 3), "1 to 4 settings .* in a second run"),
        (lambda: search([KAPPA], lambda points: [], 0), "at least 1 round"),
    ],
)
def test_what_cannot_be_searched(make, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make()
