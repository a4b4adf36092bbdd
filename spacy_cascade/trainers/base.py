"""What a component expects of a trainer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ..objectives.problem import Problem
from ..parallel import Workers
from ..types import Floats1d


class Run(Protocol):
    """An optimisation under way."""

    parameters: Floats1d

    def run(self, iterations: int, progress: Callable[[], object] = ...) -> float:
        """Go on for so many iterations; the value of the objective."""


class Trainer(Protocol):
    """Settings of an optimiser, as the config gives them."""

    @property
    def iterations(self) -> int:
        """How many iterations one `update` runs."""

    @property
    def whole_corpus(self) -> bool:
        """Whether every update must see all training examples."""

    def workers(self) -> Workers:
        """The threads to use."""

    def start(self, problem: Problem, parameters: Floats1d, workers: Workers) -> Run:
        """Begin at the given parameters."""
