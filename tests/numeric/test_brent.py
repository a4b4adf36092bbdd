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


@pytest.mark.parametrize("valley", [smooth, bent])
def test_it_asks_at_the_points_of_scipy(valley: Callable[..., float]) -> None:
    """But for a few, as SciPy's tolerance grows a little with the point."""
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
        assert found == pytest.approx(best.x, abs=5e-5)
        assert len(own) <= 40
        n_same += own == pytest.approx(others, abs=1e-6) if len(own) == len(others) else 0
    assert n_same >= 56


@pytest.mark.parametrize(("slope", "end"), [(1.0, -3.5), (-1.0, 3.5)])
def test_a_bound_may_be_the_minimum(slope: float, end: float) -> None:
    assert least_point(lambda x: slope * x, -3.5, 3.5, 1e-5) == pytest.approx(end, abs=3e-5)


def test_a_function_without_slope_has_its_minimum_anywhere() -> None:
    assert -3.5 < least_point(lambda x: 1.0, -3.5, 3.5, 1e-5) < 3.5
