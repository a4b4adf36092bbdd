"""ICRF: two chains trained jointly under a soft constraint.

The first chain has the weights `φ` and the path `y`, the second, which sees `y`, has `θ` and `z`.
With `D = φ·G(x, y) - log Z_θ(x, y)` of each sequence,

    loss = -log Q_φ(y|x) - log P_θ(z|x, y) + (C/2)·D² + priors
    ∂loss/∂φ = E_Q[G] - (1 - C·D)·G(x, y)        ∂loss/∂θ = (1 - C·D)·E_P[F] - F(x, y, z)

(METHOD.md, ICRF, whose signs are these; `C = 0` is two separate problems.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import TrainingError
from ..inference.path_scores import path_scores
from ..types import Floats1d, Floats2d
from .problem import ChainProblem


@dataclass(frozen=True)
class Terms:
    """What the loss consists of: both likelihoods, the penalty, and the mean of `|D|`."""

    first: float
    second: float
    penalty: float
    distance: float


class IsomericProblem:
    """Loss of two chains over the same sequences.

    first, second: their problems, without margins; every label has to be observed. strength: `C`.
    Parameters are those of the first, then those of the second.
    """

    def __init__(self, first: ChainProblem, second: ChainProblem, strength: float) -> None:
        self.first, self.second = first, second
        self.strength = strength
        self.terms = Terms(0.0, 0.0, 0.0, 0.0)
        for problem in (first, second):
            if (problem.tags < 0).any():
                raise TrainingError(
                    "Joint training needs every token annotated for both components, but some "
                    "have no annotation. Leave their Docs out, or train the components by "
                    "themselves."
                )
        if not np.array_equal(first.starts, second.starts):
            raise TrainingError(
                "Joint training needs the same sentences for both components. Give both the same "
                "sentence starts."
            )

    @property
    def n_first(self) -> int:
        """Number of parameters of the first chain."""
        return self.first.n_parameters

    def value_and_gradient(self, parameters: Floats1d) -> tuple[float, Floats1d]:
        """Loss with priors, and its gradient."""
        parts = parameters[: self.n_first], parameters[self.n_first :]
        one, two = self.first.scores(parts[0]), self.second.scores(parts[1])
        distance = self._first_path_scores(*one) - self.second.log_partitions(*two)
        force = self.strength * distance
        first_losses, first_transitions = self.first.losses(*one, observed=1.0 - force)
        second_losses, second_transitions = self.second.losses(*two, expected=1.0 - force)
        first_prior, first_gradient = self.first.with_prior(parts[0], one[0], first_transitions)
        second_prior, second_gradient = self.second.with_prior(parts[1], two[0], second_transitions)
        self.terms = Terms(
            float(first_losses.sum()),
            float(second_losses.sum()),
            float(0.5 * (force * distance).sum()),
            float(np.abs(distance).mean()) if len(distance) else 0.0,
        )
        value = self.terms.first + self.terms.second + self.terms.penalty
        gradient = np.concatenate([first_gradient, second_gradient])
        return value + first_prior + second_prior, gradient

    def _first_path_scores(self, scores: Floats2d, transitions: Floats1d) -> Floats1d:
        problem = self.first
        values = np.empty(len(problem.starts) - 1)
        path_scores(problem.lattice, scores, transitions, problem.tags, problem.starts, values)
        return values
