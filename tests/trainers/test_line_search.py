"""Where L-BFGS looks: first steps, brackets, and when it has arrived. Slopes of one dimension."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

from objectives import start
from spacy_cascade.trainers.lbfgs_run import LBFGSRun


class Line:
    """A function of one number, which keeps the places that it is asked about."""

    def __init__(self, value: Callable[[float], float], slope: Callable[[float], float]) -> None:
        self.value, self.slope = value, slope
        self.asked: list[float] = []

    def value_and_gradient(self, parameters: np.ndarray) -> tuple[float, np.ndarray]:
        (place,) = parameters.tolist()
        self.asked.append(place)
        return self.value(place), np.array([self.slope(place)])


def searched(line: Line, iterations: int = 1, begin: float = 0.0) -> LBFGSRun:
    run = start(line, np.array([begin]), tolerance=0.0)
    run.run(iterations)
    return run


@pytest.mark.parametrize(
    ("slope", "first"), [(-8.0, 1.0), (-1.0, 1.0), (-0.125, 0.125), (4.0, -1.0)]
)
def test_the_first_move_is_the_gradient_or_shorter(slope: float, first: float) -> None:
    """At most as long as 1."""
    line = Line(lambda x: slope * x, lambda _: slope)
    searched(line)
    assert line.asked[:2] == [0.0, first]


def test_later_moves_begin_with_all_of_the_direction() -> None:
    """Of a parabola, after its curvature is known, that is the minimum."""
    line = Line(lambda x: 2.0 * (x - 4.0) ** 2, lambda x: 4.0 * (x - 4.0))
    run = searched(line)
    n = len(line.asked)
    run.run(1)
    assert line.asked[n:] == pytest.approx([4.0], abs=1e-5)


@pytest.mark.parametrize("slope", [1.0, 8.0])
def test_where_the_slope_does_not_change_steps_double(slope: float) -> None:
    """A line has no end, and no curvature that could be divided by."""
    line = Line(lambda x: -slope * x, lambda _: -slope)
    run = searched(line, 3)
    assert line.asked[1:21] == [2.0**k for k in range(20)]
    assert run.parameters[0] == 3 * 2.0**19
    assert run.value == -slope * run.parameters[0]
    assert not run.converged


@pytest.mark.parametrize("slope", [1.0, 8.0])
def test_slopes_that_turn_slowly_lead_to_where_they_cross_zero(slope: float) -> None:
    line = Line(lambda x: 0.01 * slope * (x - 50.0) ** 2, lambda x: 0.02 * slope * (x - 50.0))
    run = searched(line)
    assert line.asked == pytest.approx([0.0, 1.0, 50.0], rel=1e-5)
    assert run.parameters[0] == pytest.approx(50.0, rel=1e-5)
    # No step is more than a hundred times as long as the one before.
    line = Line(lambda x: 5e-5 * (x - 1e4) ** 2, lambda x: 1e-4 * (x - 1e4))
    searched(line)
    assert line.asked[:3] == pytest.approx([0.0, 1.0, 100.0], rel=1e-5)


def test_a_step_too_far_is_halved_towards_the_last_good_one() -> None:
    """A wall at 10, behind a slope that does not change: between 8 and 16."""
    line = Line(
        lambda x: -x + 50.0 * max(0.0, x - 10.0) ** 2, lambda x: -1.0 + 100.0 * max(0.0, x - 10.0)
    )
    run = searched(line)
    assert line.asked == [0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 12.0, 10.0, 11.0, 10.5, 10.25]
    assert run.parameters[0] == 10.25


@pytest.mark.parametrize(
    ("rise", "reached"), [(-2e-4, 1.0), (-1e-4, 1.0), (-5e-5, 0.5), (5e-5, 0.5), (np.nan, 0.5)]
)
def test_the_value_has_to_fall_by_a_part_of_what_the_slope_says(
    rise: float, reached: float
) -> None:
    """By a ten-thousandth of it; the slope at the end is flat enough in each case."""
    values = {0.0: 0.0, 1.0: rise, 0.5: -0.25}
    line = Line(values.__getitem__, lambda x: -1.0 if x == 0.0 else 0.0)
    assert searched(line).parameters[0] == reached


@pytest.mark.parametrize(("slope", "reached"), [(-0.5, 1.0), (-0.9, 1.0), (-0.95, 2.0)])
def test_the_slope_has_to_flatten_by_a_tenth(slope: float, reached: float) -> None:
    """What is farther on is flat, and the line through both slopes crosses zero at 20."""
    line = Line(lambda x: -x, lambda x: -1.0 if x == 0.0 else slope if x == 1.0 else 0.0)
    assert searched(line).parameters[0] == pytest.approx(reached if reached < 2.0 else 20.0)


def test_a_slope_that_lies_is_the_end() -> None:
    """The value rises on all sides: after a fresh start there is nothing more to try."""
    line = Line(abs, lambda x: -1.0)
    run = searched(line, 5)
    assert run.converged
    assert (run.parameters[0], run.value, run.iteration) == (0.0, 0.0, 1)
    assert line.asked[1:4] == [1.0, 0.5, 0.25]
    assert len(line.asked) == 21


def test_a_direction_that_rounding_turned_uphill_is_given_up(
    generator: np.random.Generator,
) -> None:
    """It is nearly at a right angle to the gradient, and has single precision."""
    gradient = np.array([3.0, -1.0 + 1e-9])

    asked: list[np.ndarray] = []

    def slope(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        asked.append(parameters.copy())
        return float(parameters @ gradient), gradient.copy()

    remembered = {
        "move 0": np.array([1.0, 3.0], np.float32), "change 0": np.full(2, 1e9, np.float32)
    }  # fmt: skip
    for curvature in generator.uniform(1.0, 2.0, 20):
        asked.clear()
        run = start(SimpleNamespace(value_and_gradient=slope), np.zeros(2), tolerance=0.0)
        run.restore({**run.state(), **remembered, "curvatures": [float(curvature)]})
        run.run(1)
        assert asked[1] @ gradient < 0.0


@pytest.mark.parametrize(
    ("place", "gradient", "is_there"),
    [
        ([0.3, 0.4], 0.125, True),
        ([0.3, 0.4], 0.126, False),
        ([3.0, 4.0], 0.625, True),
        ([3.0, 4.0], 0.626, False),
    ],
)
def test_it_has_arrived_where_the_gradient_is_small_beside_the_parameters(
    place: list[float], gradient: float, is_there: bool
) -> None:
    """Beside 1 where they are smaller; an eighth is the tolerance, and enough."""
    flat = SimpleNamespace(value_and_gradient=lambda _: (0.0, np.array([0.0, gradient])))
    assert start(flat, np.array(place), tolerance=0.125).converged is is_there


def test_a_state_keeps_as_many_pairs_as_the_history_says() -> None:
    """The latest ones."""
    curvature = np.array([1.0, 10.0, 100.0])

    def bowl(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        return float(0.5 * (curvature * parameters**2).sum()), curvature * parameters

    function = SimpleNamespace(value_and_gradient=bowl)
    long, short = (start(function, np.ones(3), history=m, tolerance=0.0) for m in (5, 2))
    long.run(4)
    state = long.state()
    assert len(state["curvatures"]) == 4
    for i, inner in enumerate(state["curvatures"]):
        assert state[f"move {i}"] @ state[f"change {i}"] == pytest.approx(inner, rel=1e-6)
    short.restore(state)
    assert short.state()["curvatures"] == state["curvatures"][2:]


@pytest.mark.parametrize("curvature", [0.0, -1.0])
def test_a_state_without_curvature_is_refused(curvature: float) -> None:
    """Directions are divided by it."""
    run = searched(Line(lambda x: (x - 4.0) ** 2, lambda x: 2.0 * (x - 4.0)))
    state = run.state()
    assert len(state["curvatures"]) == 1
    with pytest.raises(ValueError, match="is needed"):
        run.restore({**state, "curvatures": [curvature]})
    with pytest.raises(ValueError, match="zero"):
        run.restore({**state, "change 0": np.zeros(1, np.float32)})


def test_changes_of_a_state_may_be_zero_in_places_but_none_as_a_whole() -> None:
    flat = SimpleNamespace(value_and_gradient=lambda _: (0.0, np.ones(2)))
    run = start(flat, np.zeros(2), tolerance=0.0)
    one, none = np.array([0.0, 1.0], np.float32), np.zeros(2, np.float32)
    state = {**run.state(), "curvatures": [1.0, 1.0], "move 0": one, "move 1": one, "change 0": one}
    run.restore({**state, "change 1": one})
    assert run.state()["change 1"].tolist() == [0.0, 1.0]
    with pytest.raises(ValueError, match="zero"):
        run.restore({**state, "change 1": none})
