"""What a model may have beside the weights of its features: a scorer that is trained by itself.

Its scores are added to those of the features, so the structure decodes their sum. Neither sees the
other in training: where two models of different kinds agree, the sum is sure, and no part of the
corpus has to be held back for one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from ..features.resources import Resource
from ..features.templates import Templates
from ..features.units import Units
from ..numeric.arrays import Array, Arrays
from ..types import Floats2d, Ints1d

BESIDE = "beside:"
"""What names of its arrays begin with in a model file."""


class Beside(Protocol):
    """A scorer of single units, whose scores do not depend on the labels of others.

    margin: how far it looks beside a unit. is_trained: whether it has learnt anything.
    """

    margin: int

    @property
    def is_trained(self) -> bool: ...

    def n_steps(self, n_units: int) -> int:
        """How often training on so many units tells that it goes on."""

    def begin(self, made: dict[str, Resource], vocab: Any) -> None:
        """Take the resources of the features, by key, and the vocabulary of the next batch."""

    def train(
        self, units: Units, labels: Ints1d, names: Sequence[str], progress: Callable[[], object]
    ) -> None:
        """Learn labels `[U]` of units; those below zero are not known. names: of all labels."""

    def set_columns(self, names: Sequence[str]) -> None:
        """Say which label each score column is of, by its name."""

    def add_scores(self, units: Units, out: Floats2d) -> None:
        """Add the scores of units to `out` `[U, S]`."""

    def contributions(self, units: Units, columns: Sequence[int]) -> list[tuple[str, list[float]]]:
        """What each word around a single unit adds to columns; the sum is all that is added."""

    # Model files

    def arrays(self) -> Arrays:
        """What is saved, with a prefix of its own; nothing before training."""

    def check(self, arrays: dict[str, Array], n_columns: int) -> None:
        """Raise `ModelFileError` for arrays that it cannot have; n_columns: of scores."""

    def restore(self, arrays: dict[str, Array], names: Sequence[str]) -> None:
        """Have what was saved, or nothing where there are no arrays; names: as `set_columns`."""


@runtime_checkable
class Network(Protocol):
    """The settings of such a scorer, as a config has them."""

    def scorer(self, templates: Templates, are_spans: bool) -> Beside:
        """One for a model with these templates; are_spans: whether its units are spans."""
