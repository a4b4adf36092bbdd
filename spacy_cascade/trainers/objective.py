"""What batch trainers minimise: loss and penalty as a function of one flat vector.

Weights are `w = w₀ + (d ⊙ u) M`. `w₀` is the centre of the penalty and `M` the structure's mixing.
The scale `d[k] = (v·n_k + p_k)^(-1/2)` divides out the curvature that `n_k` occurrences of feature
`k` and the penalty's curvature `p_k` give, so that L-BFGS needs about a quarter of the iterations.
The optimum is that of the unscaled problem (docs/method.md, section 5.2).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..inference.structure import Structure, Weights
from ..losses.base import CorpusLoss
from ..numeric.csr import scale_and_mix
from ..parallel import Workers, split
from ..penalties.base import CentredPenalty
from ..types import Floats1d, Floats2d, Pointers2d

_TYPICAL_VARIANCE = 0.05
"""Of a transition's probability; only the speed of training depends on it."""


class Function(Protocol):
    """A function to minimise."""

    def value_and_gradient(self, parameters: Floats1d) -> tuple[float, Floats1d]:
        """The value, and a new array with the gradient."""


class BatchObjective(Function, Protocol):
    """A function to minimise, with weights for its parameters."""

    def parameters(self, weights: Weights) -> Floats1d:
        """The parameters that give these weights."""

    def weights(self, parameters: Floats1d) -> Weights:
        """The weights that parameters give."""

    def hessian_diagonal(self, parameters: Floats1d) -> Floats2d:
        """The diagonal of the second derivatives of the loss `[K, S]`."""


class Loss(Protocol):
    """The loss of a corpus, wherever it is computed (`CorpusLoss`)."""

    def counts(self) -> Floats1d:
        """Number of units that have each feature, float64 `[K]`."""

    def value_and_gradient(self, weights: Weights, out: Floats2d) -> tuple[float, Floats1d]:
        """Loss, and the gradient of transitions `[E]`; that of features `[K, S]` goes to `out`.

        The weights of features may stand in `out`, and are OVERWRITTEN there.
        """

    def hessian_diagonal(self, weights: Weights) -> Floats2d:
        """The diagonal of the second derivatives, `[K, S]`, of the parameters before mixing."""


class Parametrisation:
    """From parameters `[K·S + E]` to weights and back, and from gradients to gradients.

    Parameters are `u` `[K, S]`, then one for each transition that has a weight of its own
    (`Columns.free`).

    loss: gives the numbers of occurrences. n_units: of its corpus.
    """

    def __init__(
        self,
        loss: Loss,
        n_units: int,
        structure: Structure,
        penalty: CentredPenalty,
        workers: Workers,
    ) -> None:
        self.structure, self.penalty, self.workers = structure, penalty, workers
        self._mixing = structure.columns.mixing
        self._blocks = _nonzero_blocks(self._mixing)
        of_features, of_transitions = penalty.curvature()
        self._scale = (_TYPICAL_VARIANCE * loss.counts() + of_features) ** -0.5
        self._transition_scale = (_TYPICAL_VARIANCE * n_units + of_transitions) ** -0.5
        self.shape = len(self._scale), structure.n_columns
        self._free = structure.columns.free
        n_free = len(range(structure.n_transitions)[self._free])
        self.n_parameters = self.shape[0] * self.shape[1] + n_free
        rows = np.arange(len(self._scale) + 1, dtype=np.int64)
        self._rows = split(rows * structure.n_columns)

    def weights(self, parameters: Floats1d, out: Floats2d | None = None) -> Weights:
        """Those that parameters give; the weights of features are written to `out`, if given."""
        of_features, of_transitions = self.parts(parameters)
        weights = np.empty(self.shape) if out is None else out
        centre = self.penalty.centre

        def piece(begin: int, end: int) -> None:
            self._mix(of_features, weights, begin, end)
            weights[begin:end] += centre.features[begin:end]

        self.workers.map(piece, self._rows)
        return Weights(weights, centre.transitions + self._deviation(of_transitions))

    def parameters(self, weights: Weights) -> Floats1d:
        """The parameters that give these weights."""
        centre = self.penalty.centre
        deviation = weights.features.astype(np.float64) - centre.features
        unmixed = np.linalg.solve(self._mixing, deviation.T).T
        of_features = (unmixed / self._scale[:, None]).reshape(-1)
        of_transitions = (weights.transitions - centre.transitions) / self._transition_scale
        return np.concatenate([of_features, of_transitions[self._free]])

    def parts(self, vector: Floats1d) -> tuple[Floats2d, Floats1d]:
        """Views of the features' part `[K, S]` and of the part of the free transitions."""
        n = self.shape[0] * self.shape[1]
        return vector[:n].reshape(self.shape), vector[n:]

    def _deviation(self, of_transitions: Floats1d) -> Floats1d:
        """Deviation of all transitions `[E]`, zero for those without weights of their own."""
        deviation = np.zeros_like(self._transition_scale)
        deviation[self._free] = of_transitions
        deviation *= self._transition_scale
        return deviation

    def add_penalty(
        self, parameters: Floats1d, gradient: Floats1d, transition_gradient: Floats1d
    ) -> float:
        """Value of the penalty; the gradient becomes that of loss and penalty, in place.

        gradient: of the loss with respect to the weights of features, in its first part.
        transition_gradient: `[E]`, of the loss with respect to the weights of transitions.
        """
        of_features, of_transitions = self.parts(gradient)
        own, own_transitions = self.parts(parameters)
        deviation = self._deviation(own_transitions)
        transition_value, prior_gradient = self.penalty.of_transitions(deviation)
        of_all = self._transition_scale * (transition_gradient + prior_gradient)
        of_transitions[:] = of_all[self._free]
        values = np.zeros(len(self._scale))

        def piece(begin: int, end: int) -> None:
            self._mix(of_features, of_features, begin, end)
            scale = self._scale[begin:end, None]
            values[begin:end], prior_gradient = self.penalty.of_features(
                slice(begin, end), scale * own[begin:end]
            )
            prior_gradient *= scale
            of_features[begin:end] += prior_gradient

        self.workers.map(piece, self._rows)
        return float(values.sum()) + transition_value

    def _mix(self, values: Floats2d, out: Floats2d, begin: int, end: int) -> None:
        scale_and_mix(values, self._scale, self._mixing, self._blocks, out, begin, end)


def _nonzero_blocks(mixing: Floats2d) -> Pointers2d:
    """For each column the first row that is not zero, and the one after the last."""
    is_set = mixing != 0
    return np.stack([is_set.argmax(axis=0), len(mixing) - is_set[::-1].argmax(axis=0)], axis=1)


class Objective:
    """Loss and penalty of one structure."""

    def __init__(self, loss: Loss, parametrisation: Parametrisation) -> None:
        self.loss, self.parametrisation = loss, parametrisation
        self.n_parameters = parametrisation.n_parameters
        self.weights, self.parameters = parametrisation.weights, parametrisation.parameters

    @classmethod
    def of(cls, loss: CorpusLoss, penalty: CentredPenalty) -> Objective:
        """That of a corpus in memory."""
        n_units, structure = len(loss.data.observed), loss.data.structure
        return cls(loss, Parametrisation(loss, n_units, structure, penalty, loss.workers))

    def value_and_gradient(self, parameters: Floats1d) -> tuple[float, Floats1d]:
        gradient = np.empty_like(parameters)
        of_features, _ = self.parametrisation.parts(gradient)
        # The gradient takes the place of the weights, which are as large.
        weights = self.weights(parameters, of_features)
        loss, of_transitions = self.loss.value_and_gradient(weights, of_features)
        penalty = self.parametrisation.add_penalty(parameters, gradient, of_transitions)
        return loss + penalty, gradient

    def hessian_diagonal(self, parameters: Floats1d) -> Floats2d:
        """What this corpus, and earlier ones through the penalty, add to the precision `[K, S]`."""
        own = self.loss.hessian_diagonal(self.weights(parameters))
        return own + self.parametrisation.penalty.inherited()
