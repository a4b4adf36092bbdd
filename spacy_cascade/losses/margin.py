"""Losses with a margin: what a wrong label adds to its score in training.

    loss = log Σ_y exp(score(y) + Σ_t cost(gold_t, y_t)) - score(gold)

Without costs it is the negative log-likelihood of a CRF. With `cost = κ·[y_t ≠ gold_t]` it is the
softmax margin (docs/method.md, section 3.2). A further loss of this family is one more class with
`label_costs`.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from ..checks import check_positive, configured
from ..errors import ConfigError
from ..inference.structure import Structure
from ..types import Floats2d
from .base import Loss, SequenceLosses


class MarginLoss(Loss):
    """A loss of this family."""

    needs: ClassVar[frozenset[str]] = frozenset({"costs", "losses"})

    @abstractmethod
    def label_costs(self, n_labels: int) -> Floats2d:
        """Cost of label `y` where `g` is observed, float64 `[g, y]`."""

    def on(self, structure: Structure) -> SequenceLosses:
        costs = structure.costs(self.label_costs(structure.n_labels))
        return partial(structure.losses, costs=costs)


@dataclass(frozen=True)
class Likelihood(MarginLoss):
    """Negative conditional log-likelihood; registered as `spacy_cascade.Likelihood.v2`."""

    def label_costs(self, n_labels: int) -> Floats2d:
        return np.zeros((n_labels, n_labels))


@configured
@dataclass(frozen=True)
class SoftmaxMargin(MarginLoss):
    """Maximum entropy with a margin; registered as `spacy_cascade.SoftmaxMargin.v2`.

    kappa: cost of a wrong label, `κ`; 0 gives the likelihood. false_negative_weight: factor on the
    cost of label 0 (outside, or rejected) where another is right; above 1 it trades precision for
    recall.
    """

    kappa: float = 1.0
    false_negative_weight: float = 1.0

    def __post_init__(self) -> None:
        check_positive("loss", false_negative_weight=self.false_negative_weight)
        if not (math.isfinite(self.kappa) and self.kappa >= 0):
            raise ConfigError(
                f"The softmax margin needs a finite kappa of 0 or more, not {self.kappa}. "
                "Change it in the [loss] block."
            )

    def label_costs(self, n_labels: int) -> Floats2d:
        return wrong_label_costs(n_labels, self.kappa, self.false_negative_weight)


@configured
@dataclass(frozen=True)
class Hinge:
    """Margin of online training; registered as `spacy_cascade.Hinge.v2`.

    The observed labels have to score higher than all others by the costs of these. It has no
    gradient where it is 0, so it is for trainers that make single updates.

    kappa: cost of a wrong label. false_negative_weight: as in `SoftmaxMargin`.
    """

    kappa: float = 1.0
    false_negative_weight: float = 1.0

    needs: ClassVar[frozenset[str]] = frozenset({"costs", "learn_online"})
    is_probabilistic: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_positive("loss", kappa=self.kappa, false_negative_weight=self.false_negative_weight)

    def smooth(self) -> SoftmaxMargin:
        """The softmax margin with the same costs, which is nowhere less than this, and smooth."""
        return SoftmaxMargin(self.kappa, self.false_negative_weight)

    def margin_costs(self, n_labels: int) -> Floats2d:
        """Cost of label `y` where `g` is observed, float64 `[g, y]`."""
        return wrong_label_costs(n_labels, self.kappa, self.false_negative_weight)


def wrong_label_costs(n_labels: int, kappa: float, false_negative_weight: float) -> Floats2d:
    """Costs `[Y, Y]`: `kappa` off the diagonal, weighted where label 0 stands for another one."""
    costs = kappa * (1.0 - np.eye(n_labels))
    costs[1:, 0] *= false_negative_weight
    return costs
