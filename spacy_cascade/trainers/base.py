"""What a component expects of a trainer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from ..losses.margin import Costs
from ..losses.problem import ChainCorpus, Problem
from ..parallel import Workers
from ..types import Floats1d, Floats2d

State: TypeAlias = dict[str, Any]
"""What training goes on from: arrays, and values that JSON can hold, by name."""


@runtime_checkable
class Resumable(Protocol):
    """A `Run` or a `Learner` that a checkpoint can hold."""

    def state(self) -> State:
        """All that it goes on from; its arrays may change with the next step."""

    def restore(self, state: State) -> None:
        """Go on from the state of one that began with the same data and settings.

        Raises `KeyError`, `TypeError` or `ValueError` where the state is no such one.
        """


class Run(Protocol):
    """An optimisation under way."""

    parameters: Floats1d

    def run(self, iterations: int, progress: Callable[[], object] = ...) -> float:
        """Go on for so many iterations; the value of the objective."""


class Learner(Protocol):
    """Online training under way."""

    def learn(self, corpus: ChainCorpus, objective: Costs) -> float:
        """Learn from a batch; the loss."""

    def weights(self) -> tuple[Floats2d, Floats1d]:
        """Weights `[K, S]` and transitions `[E]` to annotate with."""


class Trainer(Protocol):
    """Settings of a trainer, as the config gives them."""

    @property
    def iterations(self) -> int:
        """How many iterations one `update` runs."""

    def workers(self) -> Workers:
        """The threads to use."""

    def check(self, objective: Costs) -> None:
        """Raise `ConfigError` for an objective that it cannot minimise."""


@runtime_checkable
class BatchTrainer(Trainer, Protocol):
    """A trainer that must see all training examples in every update."""

    def start(self, problem: Problem, parameters: Floats1d, workers: Workers) -> Run:
        """Begin at the given parameters."""


@runtime_checkable
class OnlineTrainer(Trainer, Protocol):
    """A trainer for batches of any size."""

    def begin(self, weights: Floats2d, transitions: Floats1d) -> Learner:
        """Go on from these weights."""


def array_like(expected: npt.NDArray[Any], found: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A copy of an array of a state. Raises `ValueError` for other sizes, types, or no numbers."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        raise ValueError(
            f"an array of {found.dtype} {found.shape} where {expected.dtype} {expected.shape} "
            "is needed"
        )
    if not np.isfinite(found).all():
        raise ValueError("an array that is not finite")
    return np.array(found, order="C")
