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
from ..inference.isomeric import couple, path_scores
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

    first, second: their problems, without margins; every label has to be observed, and features
    to see label pairs. strength: `C`. Parameters are those of the first, then those of the second.
    """

    def __init__(self, first: ChainProblem, second: ChainProblem, strength: float) -> None:
        self.first, self.second = first, second
        self.strength = strength
        self.terms = Terms(0.0, 0.0, 0.0, 0.0)
        for problem in (first, second):
            if not problem.lattice.label_pairs:
                raise TrainingError(
                    "Joint training needs features that see label pairs. Set label_pairs = true "
                    "in the [model] block of both components."
                )
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
        return self.first.shape[0] * self.first.shape[1]

    def value_and_gradient(self, parameters: Floats1d) -> tuple[float, Floats1d]:
        """Loss with priors, and its gradient."""
        parts = parameters[: self.n_first], parameters[self.n_first :]
        problems = self.first, self.second
        scores = [problem.scores(part)[0] for problem, part in zip(problems, parts, strict=True)]
        observed = [_path_scores(*pair) for pair in zip(problems, scores, strict=True)]
        losses = [
            problem.losses(s, np.zeros(problem.lattice.n_edges))[0]
            for problem, s in zip(problems, scores, strict=True)
        ]
        distance = observed[0] - (losses[1] + observed[1])
        force = self.strength * distance
        ones = np.ones(len(force))
        for problem, s, factor, addition in zip(
            problems, scores, (ones, 1.0 - force), (force, -force), strict=True
        ):
            couple(problem.lattice, s, problem.tags, problem.starts, factor, addition)
        found = [
            problem.with_prior(part, s, np.zeros(problem.lattice.n_edges))
            for problem, part, s in zip(problems, parts, scores, strict=True)
        ]
        self.terms = Terms(
            float(losses[0].sum()),
            float(losses[1].sum()),
            float(0.5 * (force * distance).sum()),
            float(np.abs(distance).mean()) if len(distance) else 0.0,
        )
        value = self.terms.first + self.terms.second + self.terms.penalty
        priors, gradients = zip(*found, strict=True)
        return value + sum(priors), np.concatenate(gradients)


def _path_scores(problem: ChainProblem, scores: Floats2d) -> Floats1d:
    values = np.empty(len(problem.starts) - 1)
    path_scores(problem.lattice, scores, problem.tags, problem.starts, values)
    return values
