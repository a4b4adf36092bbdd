"""Losses of labelled sequences: what one is, and its sum over a corpus or a shard of one.

The loss of a corpus is the sum of the losses of its shards, wherever these are computed, in a fixed
order. A loss maps potentials to a value for each sequence and to a gradient with respect to the
potentials; `CorpusLoss` puts the scorers in front of that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import ClassVar, TypeAlias

import numpy as np

from ..inference.structure import Part, Potentials, Structure, Weights
from ..numeric.encoded import Encoded, sum_of_counts, sum_of_gradients, sum_of_scores
from ..parallel import Workers, split
from ..types import Floats1d, Floats2d, Ints1d, Pointers1d


@dataclass(frozen=True)
class LabelledSequences:
    """Sequences with what is known of their labels.

    encoded: what each scorer keeps of their `T` units.
    observed `[T]`: labels of the structure, negative where they are not known
    (`inference.schemes`). starts `[N + 1]`: the sequences. share: the part of the corpus that they
    are. drop: the share of features that a step leaves out, where its trainer does.
    """

    encoded: tuple[Encoded, ...]
    structure: Structure
    observed: Ints1d
    starts: Pointers1d
    share: float = 1.0
    drop: float = 0.0


SequenceLosses: TypeAlias = Callable[[Part], Floats1d]
"""A loss on one structure: writes the losses of some sequences, as `Structure.losses` does."""


class Loss(ABC):
    """A loss that has a gradient.

    needs: the operations of a structure that it asks for (`inference.structure.Structure`).
    is_probabilistic: whether scores are log-probabilities up to a constant once the loss is
    minimal.
    """

    needs: ClassVar[frozenset[str]] = frozenset()
    is_probabilistic: ClassVar[bool] = True

    @abstractmethod
    def on(self, structure: Structure) -> SequenceLosses:
        """The loss of labellings of this structure."""

    def variances(self, score_gradient: Floats2d) -> Floats2d:
        """Second derivatives with respect to the scores `[T, S]`, from the first ones.

        The gradient of a log-linear model is `p`, or `p - 1` for what was observed. Both give the
        variance `p (1 - p)`. What scores of one sequence have to do with each other is left out.
        """
        shares = np.abs(score_gradient)
        variances: Floats2d = shares * (1.0 - shares)
        return variances


class CorpusLoss:
    """The loss of a corpus, or of a shard of one, as a function of the weights.

    workers: the threads; results do not depend on their number.
    """

    def __init__(self, data: LabelledSequences, loss: Loss, workers: Workers) -> None:
        self.data, self.loss, self.workers = data, loss, workers
        self._of_sequences = loss.on(data.structure)
        # A unit takes about as many steps as there are transitions.
        steps = data.structure.n_transitions // data.structure.transitions_at_once
        self.pieces = split(data.starts, max(1, steps))

    def counts(self) -> Floats1d:
        """Number of units that have each feature, float64 `[K]`."""
        return sum_of_counts(self.data.encoded, self.workers)

    def potentials(self, weights: Weights) -> Potentials:
        """Those of the corpus under weights, new arrays."""
        structure, encoded = self.data.structure, self.data.encoded
        blocks = structure.columns.blocks
        scored = sum_of_scores(encoded, weights.features, blocks, self.workers)
        return structure.compose(scored, encoded, weights.transitions, self.data.starts)

    def gradient(self, of_potentials: Potentials, out: Floats2d) -> None:
        """Write the gradient of the features to `out` `[K, S]`, given that of potentials."""
        blocks = self.data.structure.columns.blocks
        sum_of_gradients(self.data.encoded, of_potentials.scored, blocks, self.workers, out)

    def losses(self, potentials: Potentials) -> tuple[Floats1d, Floats1d]:
        """Loss of each sequence `[N]`, and the gradient of the transitions `[E]`.

        The scores are OVERWRITTEN by their gradient.
        """
        losses = np.empty(len(self.data.starts) - 1)

        def evaluate(first: int, last: int) -> Floats1d:
            return self._of_sequences(Part(potentials, self.data.observed, first, last, losses))

        return losses, self.sum_of_pieces(evaluate)

    def sum_of_pieces(self, function: Callable[[int, int], Floats1d]) -> Floats1d:
        """The sum of `function(first, last)` over pieces of the corpus, whatever the threads."""
        total, lock = np.zeros(self.data.structure.n_transitions), Lock()
        # With many labels each is large, so they are added up as soon as those before are.
        waiting, order = dict[int, Floats1d](), [first for first, _ in reversed(self.pieces)]

        def piece(first: int, last: int) -> None:
            found = function(first, last)
            with lock:
                waiting[first] = found
                while order and order[-1] in waiting:
                    np.add(total, waiting.pop(order.pop()), out=total)

        self.workers.map(piece, self.pieces)
        return total

    def value_and_gradient(self, weights: Weights, out: Floats2d) -> tuple[float, Floats1d]:
        """Loss, and the gradient of transitions `[E]`; that of features `[K, S]` goes to `out`.

        The weights of features may stand in `out`, and are OVERWRITTEN there.
        """
        potentials = self.potentials(weights)
        losses, of_transitions = self.losses(potentials)
        self.gradient(potentials, out)
        return float(losses.sum()), of_transitions

    def hessian_diagonal(self, weights: Weights) -> Floats2d:
        """The diagonal of the second derivatives, `[K, S]`, of the parameters before mixing.

        See `Loss.variances` for what is left out.
        """
        mixed: Floats2d = self.curvature(weights) @ self.data.structure.columns.mixing**2
        return mixed

    def curvature(self, weights: Weights) -> Floats2d:
        """Second derivatives with respect to each weight of a feature `[K, S]`, as they stand."""
        potentials = self.potentials(weights)
        self.losses(potentials)
        return self.curvature_at(potentials, weights.features.shape)

    def curvature_at(self, gradient: Potentials, shape: tuple[int, int]) -> Floats2d:
        """As `curvature` `[K, S]`, where the gradient of the potentials is known."""
        squared = [each.squared() for each in self.data.encoded]
        blocks, out = self.data.structure.columns.blocks, np.empty(shape)
        variances = self._variances_of(gradient).scored
        sum_of_gradients(squared, variances, blocks, self.workers, out)
        return out

    def variances(self, weights: Weights) -> Potentials:
        """Second derivatives with respect to all scores."""
        potentials = self.potentials(weights)
        self.losses(potentials)
        return self._variances_of(potentials)

    def _variances_of(self, gradient: Potentials) -> Potentials:
        scored = [self.loss.variances(scores) for scores in gradient.scored]
        return gradient.with_scored(scored, gradient.transitions)
