"""L-BFGS under way: stops after any iteration and goes on later.

Two-loop recursion with a line search for the strong decrease and a test of curvature on every
stored pair (docs/method.md, section 5.1). SciPy's keeps its history inside one call; `spacy train`
needs it between calls, because the development score is looked at after each `update`.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable
from functools import cache
from typing import NamedTuple, Protocol

import numpy as np

from ..errors import TrainingError
from ..inference.structure import Weights
from ..numeric.vectors import add_scaled, copied, dot, in_blocks, move_and_dot
from ..parallel import Workers
from ..types import Floats1d, Floats2d, Reals1d, Singles1d
from .base import Fit, Progress, State, array_like, no_progress
from .objective import BatchObjective, Function
from .states import count_in, number_in, truth_in

_SUFFICIENT_DECREASE = 1e-4
_CURVATURE = 0.9
_MOST_TRIALS = 20
_LARGEST_GROWTH = 100.0
_LEAST_CURVATURE = float(np.finfo(np.float64).tiny)
"""Directions are divided by it."""


class RunSettings(Protocol):
    """What a run needs of the settings of a trainer (`lbfgs.LBFGS`)."""

    @property
    def iterations(self) -> int: ...

    @property
    def history(self) -> int: ...

    @property
    def tolerance(self) -> float: ...


class BatchFit(Fit[object]):
    """An optimisation of all weights for one corpus; part: which of the parameters are its own."""

    def __init__(self, objective: BatchObjective, run: LBFGSRun, part: slice = slice(None)) -> None:
        self._objective, self._run, self._part = objective, run, part

    def _step(self, data: object, progress: Progress) -> float:
        return_freed()
        return self._run.run(self._run.settings.iterations, progress)

    def weights(self) -> Weights:
        return self._objective.weights(self._run.parameters[self._part])

    def hessian_diagonal(self) -> Floats2d | None:
        return self._objective.hessian_diagonal(self._run.parameters[self._part])

    def state(self) -> State:
        return self._run.state()

    def _restore(self, state: State) -> None:
        self._run.restore(state)


class Step(NamedTuple):
    """How far a line search goes along a direction, and what is there."""

    step: float
    point: Floats1d
    value: float
    gradient: Floats1d


def singles_in_memory(n: int) -> Singles1d:
    """An array of any values, float32 `[n]`."""
    return np.empty(n, dtype=np.float32)


class LBFGSRun:
    """An optimisation under way.

    parameters: float64 `[n]`, where it stands. value: the objective there. iteration: how many
    have been made. converged: whether further iterations would change nothing. new_singles: makes
    arrays for what is remembered.
    """

    def __init__(
        self,
        settings: RunSettings,
        problem: Function,
        parameters: Floats1d,
        workers: Workers,
        new_singles: Callable[[int], Singles1d] = singles_in_memory,
    ) -> None:
        self.settings, self.problem, self.workers = settings, problem, workers
        self._new_singles = new_singles
        self.parameters = np.array(parameters, dtype=np.float64)
        self.iteration = 0
        self._pairs: deque[tuple[Singles1d, Singles1d, float]] = deque(maxlen=settings.history)
        self.value, self._gradient = problem.value_and_gradient(self.parameters)
        if not np.isfinite(self.value):
            raise TrainingError(
                f"The training objective starts at {self.value}. Look for settings that are "
                "not finite numbers in the [loss] and [penalty] blocks."
            )
        self.converged = self._is_stationary()

    def run(self, iterations: int, progress: Progress = no_progress) -> float:
        """Make up to so many iterations and return the objective; `progress` after each."""
        for _ in range(iterations):
            if self.converged:
                break
            self._iterate()
            self.iteration += 1
            progress()
        return self.value

    def state(self) -> State:
        """What the next iterations depend on."""
        state: State = {
            "iteration": self.iteration,
            "converged": self.converged,
            "value": float(self.value),
            "parameters": self.parameters,
            "gradient": self._gradient,
            "curvatures": [float(curvature) for _, _, curvature in self._pairs],
        }
        for i, (move, change, _) in enumerate(self._pairs):
            state[f"move {i}"], state[f"change {i}"] = move, change
        return state

    def restore(self, state: State) -> None:
        """Go on from a state of the same problem."""
        remembered = np.empty(len(self.parameters), dtype=np.float32)
        pairs = [
            (
                self._as_singles(array_like(remembered, state[f"move {i}"])),
                self._as_singles(array_like(remembered, state[f"change {i}"])),
                number_in(curvature, _LEAST_CURVATURE),
            )
            for i, curvature in enumerate(state["curvatures"])
        ]
        if not all(change.any() for _, change, _ in pairs):
            raise ValueError("a change of the gradient that is zero")
        gradient = array_like(self._gradient, state["gradient"])
        self.parameters = array_like(self.parameters, state["parameters"])
        self.value, self._gradient = number_in(state["value"]), gradient
        self.iteration, self.converged = count_in(state["iteration"]), truth_in(state["converged"])
        self._pairs = deque(pairs, maxlen=self.settings.history)

    def _is_stationary(self) -> bool:
        size = max(1.0, dot(self.parameters, self.parameters, self.workers) ** 0.5)
        norm = dot(self._gradient, self._gradient, self.workers) ** 0.5
        return bool(norm <= self.settings.tolerance * size)

    def _iterate(self) -> None:
        direction, slope, unit = self._remembered(self._direction())
        if not slope < 0.0:
            self._pairs.clear()
            direction, slope, unit = self._remembered(self._downhill())
        first_step = 1.0 if self._pairs else min(1.0, unit)
        taken = self._line_search(direction, slope, first_step)
        if taken is None:
            # No step along this direction lowers the objective: a fresh start may, else done.
            self.converged = not self._pairs
            self._pairs.clear()
            return
        move, change = direction, self._new_singles(len(direction))

        def block(part: slice) -> None:
            move[part] *= np.float32(taken.step)
            self._gradient[part] -= taken.gradient[part]
            with np.errstate(over="ignore"):
                np.negative(self._gradient[part], out=change[part], casting="same_kind")

        in_blocks(block, len(move), self.workers)
        curvature = dot(move, change, self.workers)
        # Not where a change is too large for single precision, either.
        if curvature > 1e-12 * dot(change, change, self.workers):
            self._pairs.append((move, change, curvature))
        self.parameters, self.value, self._gradient = taken.point, taken.value, taken.gradient
        self.converged = self._is_stationary()

    def _remembered(self, direction: Floats1d) -> tuple[Singles1d, float, float]:
        """A direction in single precision, the slope along it, and the step that is 1 long.

        What is remembered takes up most of the memory. Where numbers are too large for single
        precision, the direction is shorter. The length is that of the steepest direction.
        """
        singles = self._as_singles(direction)
        slope = dot(singles, self._gradient, self.workers)
        if np.isfinite(slope):
            return singles, slope, max(-slope, _LEAST_CURVATURE) ** -0.5
        direction /= max(direction.max(), -direction.min())
        direction /= dot(direction, direction, self.workers) ** 0.5
        singles = self._as_singles(direction)
        return singles, dot(singles, self._gradient, self.workers), 1.0

    def _as_singles(self, vector: Reals1d) -> Singles1d:
        return copied(vector, self._new_singles(len(vector)), self.workers)

    def _direction(self) -> Floats1d:
        """`-H·g` by the two-loop recursion."""
        direction = self._downhill()
        if not self._pairs:
            return direction
        moves, changes, curvatures = zip(*self._pairs, strict=True)
        # The inverse curvature that agrees with the last pair.
        first_guess = curvatures[-1] / dot(changes[-1], changes[-1], self.workers)
        # Each product is that with the vector of the next step, backwards and then forwards again.
        product, factors = dot(moves[-1], direction, self.workers), []
        for i in reversed(range(len(moves))):
            factors.append(product / curvatures[i])
            scale, following = (1.0, moves[i - 1]) if i else (first_guess, changes[0])
            move = -factors[-1], changes[i], scale, direction, following
            product = move_and_dot(*move, self.workers)
        for i, factor in enumerate(reversed(factors)):
            correction = factor - product / curvatures[i]
            move = correction, moves[i], 1.0, direction, changes[min(i + 1, len(changes) - 1)]
            product = move_and_dot(*move, self.workers)
        return direction

    def _downhill(self) -> Floats1d:
        """`-g`."""
        direction = np.empty_like(self._gradient)

        def block(part: slice) -> None:
            np.negative(self._gradient[part], out=direction[part])

        in_blocks(block, len(direction), self.workers)
        return direction

    def _point(self, direction: Singles1d, step: float) -> Floats1d:
        point: Floats1d = copied(self.parameters, np.empty_like(self.parameters), self.workers)
        add_scaled(step, direction, point, self.workers)
        return point

    def _line_search(self, direction: Singles1d, slope: float, step: float) -> Step | None:
        """A step under the weak Wolfe conditions, by bracketing.

        Where the slope has not turned yet, the next step goes to where the line through both
        slopes crosses zero: a first step is a guess that may be off by orders of magnitude.
        """
        low, high = 0.0, np.inf
        best: Step | None = None
        for _ in range(_MOST_TRIALS):
            point = self._point(direction, step)
            value, gradient = self.problem.value_and_gradient(point)
            proposal = 0.0
            if not value <= self.value + _SUFFICIENT_DECREASE * step * slope:
                high = step
            else:
                best = Step(step, point, value, gradient)
                slope_there = dot(direction, gradient, self.workers)
                if slope_there >= _CURVATURE * slope:
                    return best
                low = step
                if slope_there > slope:
                    proposal = step * slope / (slope - slope_there)
            if np.isfinite(high):
                step = 0.5 * (low + high)
            else:
                step *= min(max(proposal / step, 2.0), _LARGEST_GROWTH)
        return best


def return_freed() -> None:
    """Give it back, where the C library can; it takes milliseconds.

    glibc keeps the room of arrays below 32 MB when they are freed. Other sizes do not fit into it.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    try:
        of_library: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):  # Not glibc; Windows takes no None.
        return None
    return of_library
