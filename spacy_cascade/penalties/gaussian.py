"""Gaussian penalties.

    ½ Σ_k Σ_s precision[k, s] · z[k, s]²

Training from scratch has the precision `1/σ²`. Adaptation adds the diagonal of the Hessian that the
old data gave (docs/method.md, section 4.3).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import check_positive, configured
from ..inference.structure import Structure, Weights
from ..types import Floats1d, Floats2d, Ints1d
from .base import Penalty


@configured
@dataclass(frozen=True)
class Gaussian(Penalty):
    """A Gaussian penalty; registered as `spacy_cascade.Gaussian.v1`.

    sigma: standard deviation of the weights, `σ`.
    """

    sigma: float = 1.0

    def __post_init__(self) -> None:
        check_positive("penalty", sigma=self.sigma)

    def at_zero(self, shape: tuple[int, int], n_transitions: int) -> "CentredGaussian":
        precision = self.sigma**-2
        return CentredGaussian(
            Weights(np.broadcast_to(0.0, shape), np.zeros(n_transitions)),
            np.broadcast_to(precision, shape),
            np.full(n_transitions, precision),
            self.sigma,
        )

    def at_weights(
        self, weights: Weights, hessian_diagonal: Floats2d | None, transition_columns: Ints1d
    ) -> "CentredGaussian":
        if hessian_diagonal is None:
            hessian_diagonal = np.zeros(weights.features.shape)
        return CentredGaussian(
            weights,
            self.sigma**-2 + hessian_diagonal,
            self.sigma**-2 + of_transitions(hessian_diagonal, transition_columns),
            self.sigma,
        )

    def with_share(
        self, share: float, weights: Weights, hessian_diagonal: Floats2d, structure: Structure
    ) -> Weights:
        """By the parabola that the old loss is near the weights (docs/method.md, section 4.3)."""
        of_moves = of_transitions(hessian_diagonal, structure.columns.of_transition)
        mixing, width = structure.columns.mixing, self.sigma**-2

        def kept(known: Any) -> Any:
            return share * (width + known) / (width + share * known)

        parameters = np.linalg.solve(mixing, weights.features.T.astype(np.float64)).T
        features = (parameters * kept(hessian_diagonal)) @ mixing
        return Weights(features, weights.transitions * kept(of_moves))


@dataclass(frozen=True)
class CentredGaussian:
    """A Gaussian penalty around a centre; precisions: `[K, S]` and `[E]`."""

    centre: Weights
    precision: Floats2d
    transition_precision: Floats1d
    sigma: float

    def curvature(self) -> tuple[Floats1d, Floats1d]:
        return self.precision.mean(axis=1), self.transition_precision

    def of_features(self, rows: slice, deviation: Floats2d) -> tuple[Floats1d, Floats2d]:
        prior_gradient = self.precision[rows] * deviation
        return 0.5 * (prior_gradient * deviation).sum(axis=1), prior_gradient

    def of_transitions(self, deviation: Floats1d) -> tuple[float, Floats1d]:
        prior_gradient = self.transition_precision * deviation
        return 0.5 * float((prior_gradient * deviation).sum()), prior_gradient

    def at_places(self, rows: Ints1d, columns: Ints1d) -> "CentredGaussian":
        """The penalty of some weights alone, as those of `P` features with one column."""
        centre, transitions = self.centre
        return CentredGaussian(
            Weights(centre[rows, columns][:, None], transitions),
            self.precision[rows, columns][:, None],
            self.transition_precision,
            self.sigma,
        )

    def inherited(self) -> Floats2d | float:
        return self.precision - self.sigma**-2


def of_transitions(hessian_diagonal: Floats2d, transition_columns: Ints1d) -> Floats1d:
    """The Hessian's diagonal of transitions `[E]`, given that of features `[K, S]`.

    No transition is more certain than the most frequent feature of its column.
    """
    of_columns: Floats1d = hessian_diagonal.max(axis=0, initial=0.0)
    return of_columns[transition_columns]
