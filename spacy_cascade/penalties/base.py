"""Penalties: functions of the weights that know nothing of data.

They are on the deviation `z` of the weights `w = centre + z M` from a centre, where `M` is the
structure's mixing. Training from scratch has the centre 0, adaptation the trained weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

from ..errors import ConfigError
from ..inference.structure import Structure, Weights
from ..types import Floats1d, Floats2d, Ints1d


class CentredPenalty(Protocol):
    """A penalty around a centre; rows are those of the features `[K, S]`."""

    @property
    def centre(self) -> Weights:
        """Where the penalty is least."""

    def curvature(self) -> tuple[Floats1d, Floats1d]:
        """Typical second derivatives by feature `[K]`, and by transition `[E]`, above 0."""

    def of_features(self, rows: slice, deviation: Floats2d) -> tuple[Floats1d, Floats2d]:
        """Value of each row, and the gradient; deviation: float64 `[n, S]`, of some rows."""

    def of_transitions(self, deviation: Floats1d) -> tuple[float, Floats1d]:
        """The value, and the gradient `[E]`."""

    def inherited(self) -> Floats2d | float:
        """What earlier data added to the second derivatives `[K, S]`."""


class Penalty(ABC):
    """A penalty as the config states it."""

    @abstractmethod
    def at_zero(self, shape: tuple[int, int], n_transitions: int) -> CentredPenalty:
        """The penalty of training from scratch; shape: `(K, S)`."""

    @abstractmethod
    def at_weights(
        self, weights: Weights, hessian_diagonal: Floats2d | None, transition_columns: Ints1d
    ) -> CentredPenalty:
        """The penalty of adaptation, centred on trained weights.

        hessian_diagonal `[K, S]`: second derivatives of the loss that they were trained with, where
        known. transition_columns `[E]`: the column that goes with each transition.
        """

    def with_share(
        self, share: float, weights: Weights, hessian_diagonal: Floats2d, structure: Structure
    ) -> Weights:
        """Weights as if the data that gave them had counted `share` (0 to 1) in training.

        Raises `ConfigError` where the penalty cannot tell.
        """
        raise ConfigError(
            f"The penalty {self} cannot tell what the weights were with less of the old corpus. "
            'Adapt with an old share of 1, or train with @misc = "spacy_cascade.Gaussian.v1".'
        )
