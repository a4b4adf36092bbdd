"""ICRF (isomeric conditional random fields): two chains trained jointly under a soft constraint.

The first chain has the weights `φ` and the path `y`. The second one sees `y`; it has the weights
`θ` and the path `z`. With `D = φ·G(x, y) - log Z_θ(x, y)` of each sequence,

    loss = -log Q_φ(y|x) - log P_θ(z|x, y) + (C/2)·D²
    ∂loss/∂φ = E_Q[G] - (1 - C·D)·G(x, y)        ∂loss/∂θ = (1 - C·D)·E_P[F] - F(x, y, z)

(docs/method.md, section 3.5; `C = 0` gives two separate losses.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import TrainingError
from ...inference.structure import Costs, Part, Paths, Potentials, Shares, Weights
from ...losses.base import CorpusLoss
from ...trainers.objective import Objective
from ...types import Floats1d

NEEDS = frozenset({"costs", "losses", "log_partitions", "path_scores"})
"""The operations that both structures have to offer."""


class Terms(NamedTuple):
    """What the loss consists of: both likelihoods, the constraint, and the mean of `|D|`."""

    first: float
    second: float
    constraint: float
    distance: float


class IsomericLoss:
    """The loss of two chains over the same sequences, without penalties.

    first, second: their likelihoods; every label has to be observed. strength: `C`.
    """

    def __init__(self, first: CorpusLoss, second: CorpusLoss, strength: float) -> None:
        self.first, self.second, self.strength = first, second, strength
        self.terms = Terms(0.0, 0.0, 0.0, 0.0)
        if any((loss.data.observed < 0).any() for loss in (first, second)):
            raise TrainingError(
                "Joint training needs every token annotated for both components, but some tokens "
                "have no annotation. Leave their Docs out, or train the components separately."
            )
        if not np.array_equal(first.data.starts, second.data.starts):
            raise TrainingError(
                "Joint training needs the same sentences for both components. Give both the same "
                "sentence starts."
            )
        self._costs = _no_costs(first), _no_costs(second)

    def evaluate(
        self, weights: tuple[Weights, Weights]
    ) -> tuple[float, tuple[Potentials, Potentials]]:
        """The loss; the gradients with respect to the potentials of both chains."""
        one, two = self.first.potentials(weights[0]), self.second.potentials(weights[1])
        data = self.first.data
        assert isinstance(data.structure, Paths)
        on_path = data.structure.path_scores(one, data.observed)
        distance = on_path - self._partitions(two)
        pull = self.strength * distance
        ones = np.ones_like(pull)
        first, one = _weighted_losses(self.first, self._costs[0], one, (ones, 1.0 - pull))
        second, two = _weighted_losses(self.second, self._costs[1], two, (1.0 - pull, ones))
        constraint = float(0.5 * (pull * distance).sum())
        mean = float(np.abs(distance).mean()) if len(distance) else 0.0
        self.terms = Terms(float(first.sum()), float(second.sum()), constraint, mean)
        return self.terms.first + self.terms.second + constraint, (one, two)

    def _partitions(self, potentials: Potentials) -> Floats1d:
        """Log-partition of each sequence of the second chain, float64 `[N]`."""
        data = self.second.data
        values = np.empty(len(data.starts) - 1)

        def piece(first: int, last: int) -> None:
            starts = potentials.starts[first : last + 1]
            begin, end = int(starts[0]), int(starts[-1])
            own = potentials.of_sequence(begin, end).replace(starts=starts - begin)
            observed = data.observed[begin:end]
            values[first:last] = data.structure.log_partitions(own, self._costs[1], observed)

        self.second.workers.map(piece, self.second.pieces)
        return values


def _no_costs(loss: CorpusLoss) -> Costs:
    n_labels = loss.data.structure.n_labels
    return loss.data.structure.costs(np.zeros((n_labels, n_labels)))


def _weighted_losses(
    loss: CorpusLoss,
    costs: Costs,
    potentials: Potentials,
    shares: Shares,
) -> tuple[Floats1d, Potentials]:
    """Losses `[N]`, and their weighted gradient with respect to the potentials."""
    data = loss.data
    losses = np.empty(len(data.starts) - 1)

    def piece(first: int, last: int) -> Floats1d:
        part = Part(potentials, data.observed, first, last, losses)
        return data.structure.losses(part, costs, shares)

    of_transitions = loss.sum_of_pieces(piece)
    return losses, potentials.replace(transitions=of_transitions)


class JointObjective:
    """Isomeric loss and both penalties; parameters are those of the first, then of the second."""

    def __init__(self, first: Objective, second: Objective, strength: float) -> None:
        self.first, self.second = first, second
        assert isinstance(first.loss, CorpusLoss)
        assert isinstance(second.loss, CorpusLoss)
        self.loss = IsomericLoss(first.loss, second.loss, strength)

    def split(self, parameters: Floats1d) -> tuple[Floats1d, Floats1d]:
        """The parameters of each."""
        n = self.first.n_parameters
        return parameters[:n], parameters[n:]

    def value_and_gradient(self, parameters: Floats1d) -> tuple[float, Floats1d]:
        one, two = self.split(parameters)
        weights = self.first.weights(one), self.second.weights(two)
        value, (first, second) = self.loss.evaluate(weights)
        first_penalty, first_gradient = _with_penalty(self.first, one, self.loss.first, first)
        second_penalty, second_gradient = _with_penalty(self.second, two, self.loss.second, second)
        gradient = np.concatenate([first_gradient, second_gradient])
        return value + first_penalty + second_penalty, gradient


def _with_penalty(
    objective: Objective, parameters: Floats1d, loss: CorpusLoss, of_potentials: Potentials
) -> tuple[float, Floats1d]:
    """Value of the penalty, and the gradient with respect to the parameters."""
    gradient = np.empty_like(parameters)
    of_features, _ = objective.parametrisation.parts(gradient)
    loss.gradient(of_potentials, of_features)
    of_transitions = of_potentials.transitions
    penalty = objective.parametrisation.add_penalty(parameters, gradient, of_transitions)
    return penalty, gradient
