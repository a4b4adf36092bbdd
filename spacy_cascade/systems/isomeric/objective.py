"""The function that joint training minimises."""

from __future__ import annotations

import numpy as np

from ...inference.structure import Potentials
from ...losses.base import CorpusLoss
from ...trainers.objective import Objective
from ...types import Floats1d
from .loss import IsomericLoss


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
