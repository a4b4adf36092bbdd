"""The least point against SciPy's, and against functions whose minimum is known."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from spacy_cascade.numeric.brent import least_point

PLACES = st.floats(-3.0, 3.0)


@given(place=PLACES, shape=st.sampled_from([1.2, 2.0, 4.0]), skew=st.floats(0.1, 10.0))
def test_the_minimum_of_one_valley(place: float, shape: float, skew: float) -> None:
    def valley(x: float) -> float:
        return float(abs(x - place) ** shape * (skew if x > place else 1.0))

    assert least_point(valley, -3.5, 3.5, 1e-5) == pytest.approx(place, abs=3e-5)


@given(scale=st.floats(0.2, 5.0), place=PLACES)
def test_smooth_functions_are_asked_few_times(scale: float, place: float) -> None:
    asked: list[float] = []

    def smooth(x: float) -> float:
        asked.append(x)
        return math.log(math.cosh(scale * (x - place))) + 0.1 * x

    found = least_point(smooth, -3.5, 3.5, 1e-5)
    other = minimize_scalar(smooth_of(scale, place), bounds=(-3.5, 3.5), method="bounded",
                            options={"xatol": 1e-7})  # fmt: skip
    assert found == pytest.approx(other.x, abs=1e-4)
    assert len(asked) <= 30
    assert all(-3.5 < x < 3.5 for x in asked)


def smooth_of(scale: float, place: float):  # type: ignore[no-untyped-def]
    return lambda x: math.log(math.cosh(scale * (x - place))) + 0.1 * x


@pytest.mark.parametrize(("slope", "end"), [(1.0, -3.5), (-1.0, 3.5)])
def test_a_bound_may_be_the_minimum(slope: float, end: float) -> None:
    assert least_point(lambda x: slope * x, -3.5, 3.5, 1e-5) == pytest.approx(end, abs=3e-5)


def test_a_function_without_slope_has_its_minimum_anywhere() -> None:
    assert -3.5 < least_point(lambda x: 1.0, -3.5, 3.5, 1e-5) < 3.5
