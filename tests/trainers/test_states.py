"""Values of states that nobody can trust."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from spacy_cascade.trainers.states import count_in, generator_in, number_in, truth_in

STATE: dict[str, Any] = np.random.PCG64(3).state  # type: ignore[assignment]


def test_what_is_right_is_taken() -> None:
    assert (count_in(3), number_in(-0.5), number_in(2), truth_in(True)) == (3, -0.5, 2.0, True)
    assert isinstance(number_in(2), float)


@pytest.mark.parametrize("value", [True, "1", 1.0, -1, 2**53 + 1, None, [1], 10**5000], ids=type)
def test_no_counts(value: object) -> None:
    with pytest.raises(ValueError, match="whole number from 0 to"):
        count_in(value)


@pytest.mark.parametrize("value", [True, "1", None, math.inf, math.nan, 10**400, -0.1])
def test_no_numbers(value: object) -> None:
    with pytest.raises(ValueError, match="number"):
        number_in(value, 0.0)


@pytest.mark.parametrize("value", ["no", 0, None])
def test_no_truths(value: object) -> None:
    with pytest.raises(ValueError, match="true or false"):
        truth_in(value)


def test_a_generator_goes_on() -> None:
    generator = np.random.default_rng(5)
    generator.integers(10, size=3, dtype=np.uint32)
    again = generator_in(json.loads(json.dumps(generator.bit_generator.state)))
    np.testing.assert_array_equal(again.permutation(50), generator.permutation(50))


@pytest.mark.parametrize(
    "state",
    [
        None,
        {},
        {**STATE, "bit_generator": "MT19937"},
        {**STATE, "state": {"state": 1}},
        {**STATE, "state": {"state": 2**128, "inc": 1}},
        {**STATE, "state": {"state": -1, "inc": 1}},
        {**STATE, "has_uint32": 2},
        {**STATE, "uinteger": 2**32},
        {**STATE, "more": 1},
    ],
)
def test_no_generators(state: object) -> None:
    with pytest.raises(ValueError, match=r"needed"):
        generator_in(state)


def test_numbers_of_thousands_of_digits_are_named() -> None:
    with pytest.raises(ValueError, match="a very large number"):
        count_in(10**5000)


def test_long_values_are_cut() -> None:
    for check in (count_in, number_in, truth_in, generator_in):
        with pytest.raises(ValueError, match="needed") as caught:
            check("x" * 100)
        assert str(caught.value).startswith(repr("x" * 100)[:60] + " where")


def test_ends_of_ranges_are_taken() -> None:
    assert [count_in(value, 2, 5) for value in (2, 5)] == [2, 5]
    assert count_in(2**53) == 2**53
    assert number_in(0.5, 0.5) == 0.5
    least = {**STATE, "state": {"state": 0, "inc": 0}, "has_uint32": 0, "uinteger": 0}
    most = {**STATE, "has_uint32": 1, "uinteger": 2**32 - 1}
    for state in (least, most):
        made = generator_in(state).bit_generator.state
        assert (made["has_uint32"], made["uinteger"]) == (state["has_uint32"], state["uinteger"])


def test_the_largest_numbers_of_a_generator_are_taken() -> None:
    most = {**STATE, "state": {"state": 2**128 - 1, "inc": 2**128 - 1}}
    assert generator_in(most).bit_generator.state["state"]["inc"] == 2**128 - 1
    for field in ("state", "inc"):
        with pytest.raises(ValueError, match="whole number"):
            generator_in({**STATE, "state": {**STATE["state"], field: 2**128}})
