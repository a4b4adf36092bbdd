"""The least point against SciPy's, and against functions whose minimum is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from spacy_cascade.numeric.brent import least_point

PLACES = st.floats(-3.0, 3.0)


@settings(max_examples=40)
@given(place=PLACES, shape=st.sampled_from([1.2, 2.0, 4.0]), skew=st.floats(0.1, 10.0))
def test_the_minimum_of_one_valley(place: float, shape: float, skew: float) -> None:
    def valley(x: float) -> float:
        return float(abs(x - place) ** shape * (skew if x > place else 1.0))

    assert least_point(valley, -3.5, 3.5, 1e-5) == pytest.approx(place, abs=3e-5)


def smooth(scale: float, place: float, x: float) -> float:
    return math.log(math.cosh(scale * (x - place))) + 0.1 * x


def bent(scale: float, place: float, x: float) -> float:
    return float(abs(x - place) ** 1.5 * (scale if x > place else 1.0))


def stepped(scale: float, place: float, x: float) -> float:
    """Many points are as low as others."""
    return float(math.floor(8 * abs(scale * (x - place))))


@pytest.mark.parametrize("valley", [smooth, bent, stepped])
def test_it_asks_at_the_points_of_scipy(valley: Callable[..., float]) -> None:
    """But for one or so, as SciPy's tolerance grows a little with the point."""
    generator, n_same = np.random.default_rng(0), 0
    for scale, place in generator.uniform((0.2, -3.0), (5.0, 3.0), (60, 2)):
        own, others = [], []  # type: list[float], list[float]

        def asked(x: float, points: list[float], scale=scale, place=place) -> float:
            points.append(float(x))
            return valley(scale, place, x)

        found = least_point(partial(asked, points=own), -3.5, 3.5, 1e-5)
        best = minimize_scalar(
            partial(asked, points=others),
            bounds=(-3.5, 3.5), method="bounded", options={"xatol": 3e-5},
        )  # fmt: skip
        assert valley(scale, place, found) == pytest.approx(best.fun, abs=5e-5)
        assert len(own) <= 40
        n_same += own == pytest.approx(others, abs=1e-6) if len(own) == len(others) else 0
    assert n_same >= 59


@pytest.mark.parametrize(
    ("values", "x", "bound"),
    [
        ([3.15, 0.38, 0.11, 3.34], 0.7639320225002102, 1.0),
        ([0.89, 2.59, 1.58, 2.3, 1.28, 0.9534268782694002], 0.3819660112501051, 0.354362098758353),
        ([0.48, 1.33, 2.89, 2.84, 0.9286844382503567], 0.3819660112501051, 0.46582022179379695),
    ],
    ids=["its vertex is the lower bound", "the upper bound", "it leads half as far as before"],
)
def test_where_a_parabola_leads_nowhere(values: list[float], x: float, bound: float) -> None:
    """A golden section between the best point and the bound that is farther off comes next."""
    asked: list[float] = []

    def listed(x: float) -> float:
        asked.append(x)
        return values[len(asked) - 1] if len(asked) <= len(values) else 9.0

    least_point(listed, 0.0, 1.0, 1e-3)
    assert asked[len(values)] == pytest.approx(x + (bound - x) * (3 - math.sqrt(5)) / 2, abs=1e-9)


def test_a_vertex_may_be_twice_the_tolerance_from_a_bound() -> None:
    def asked_of(tolerance: float) -> list[float]:
        asked: list[float] = []

        def parabola(x: float) -> float:
            asked.append(x)
            return (x - 0.32) ** 2

        least_point(parabola, 0.0, 1.0, tolerance)
        return asked

    _, _, bound, vertex = asked_of(1e-6)[:4]
    assert vertex == pytest.approx(0.32)
    assert asked_of((vertex - bound) / 2)[3] == vertex


@pytest.mark.parametrize(("slope", "end"), [(1.0, -3.5), (-1.0, 3.5)])
def test_a_bound_may_be_the_minimum(slope: float, end: float) -> None:
    assert least_point(lambda x: slope * x, -3.5, 3.5, 1e-5) == pytest.approx(end, abs=3e-5)


def test_it_asks_once_where_all_points_are_near() -> None:
    """The first point is at a golden section, and none is farther off than twice the tolerance."""
    first, asked = (3 - math.sqrt(5)) / 2, list[float]()
    found = least_point(lambda x: asked.append(x) or x, 0.0, 1.0, (0.5 - first + 0.5) / 2)
    assert asked == [found] == [first]


def test_a_function_without_slope_has_its_minimum_anywhere() -> None:
    assert -3.5 < least_point(lambda x: 1.0, -3.5, 3.5, 1e-5) < 3.5
