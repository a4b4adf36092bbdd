"""Learning from the probabilities of another model, beside labels that are known.

    loss = log Σ_y exp(score(y)) - Σ_parts expected(part)·score(part)

This is the cross-entropy of the model under the distribution that the expected parts are of, up to
a constant (Hinton, Vinyals and Dean 2015, Distilling the Knowledge in a Neural Network, section 2).
Its gradient is the difference of expectations, `E_model[part] - expected(part)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from ...inference.structure import Costs, Part, Paths, Structure
from ...losses.base import Loss, SequenceLosses
from ...types import Bools1d, Floats1d, Floats2d


@dataclass(frozen=True)
class Targets:
    """What is expected of sequences. scores: float64 `[T, S]`. transitions: float64 `[N, E]`.

    given: bool `[N]`, sequences that have targets; the others have labels. of_units: bool `[T]`,
    the same by unit.
    """

    scores: Floats2d
    transitions: Floats2d
    given: Bools1d
    of_units: Bools1d


@dataclass(frozen=True)
class Imitation(Loss):
    """The loss of some data with targets, on one structure.

    own: the loss of sequences that have labels and no targets. Label 0 has to be legal everywhere.
    """

    own: Loss
    targets: Targets
    needs: ClassVar[frozenset[str]] = frozenset({"costs", "losses", "path_scores"})

    def on(self, structure: Structure) -> SequenceLosses:
        n = structure.n_labels
        assert isinstance(structure, Paths)
        costs = structure.costs(np.zeros((n, n)))
        return ImitationLosses(structure, costs, self.own.on(structure), self.targets)

    def variances(self, score_gradient: Floats2d) -> Floats2d:
        """As of every log-linear model, from the probabilities that the gradient came from."""
        given = self.targets.of_units[:, None]
        shares = np.where(given, score_gradient + self.targets.scores, score_gradient)
        return super().variances(shares)


@dataclass(frozen=True)
class ImitationLosses:
    """The loss on one structure; costs: those of no margin."""

    structure: Paths
    costs: Costs
    own: SequenceLosses
    targets: Targets

    def __call__(self, part: Part) -> Floats1d:
        given = self.targets.given[part.first : part.last]
        turns = part.first + 1 + np.flatnonzero(given[1:] != given[:-1])
        gradient = np.zeros(self.structure.n_transitions)
        for begin, end in pairwise([part.first, *turns.tolist(), part.last]):
            evaluate = self._imitate if self.targets.given[begin] else self.own
            gradient += evaluate(part._replace(first=begin, last=end))
        return gradient

    def _imitate(self, part: Part) -> Floats1d:
        """The losses of sequences that all have targets."""
        potentials, observed, first, last, losses = part
        starts, transitions = potentials.starts, self.targets.transitions[first:last]
        units = slice(starts[first], starts[last])
        wanted = self.targets.scores[units]
        by_unit = np.einsum("ts,ts->t", wanted, potentials.scores[units])
        on_targets = np.add.reduceat(by_unit, starts[first:last] - starts[first])
        on_targets += transitions @ potentials.transitions
        # Any labelling shows the partition; its own gradient does not count.
        outside = np.zeros_like(observed)
        own = potentials.replace(starts=starts[first : last + 1])
        on_outside = self.structure.path_scores(own, outside)
        shares = np.ones_like(losses), np.zeros_like(losses)
        gradient = self.structure.losses(part._replace(observed=outside), self.costs, shares)
        losses[first:last] += on_outside - on_targets
        potentials.scores[units] -= wanted
        difference: Floats1d = gradient - transitions.sum(axis=0)
        return difference
