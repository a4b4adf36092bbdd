"""Training objectives as costs: what a wrong label adds to its score in training.

    loss = log Σ_y exp(score(y) + Σ_t cost(gold_t, y_t)) - score(gold) + ‖w‖²/(2σ²)

Zero cost is the likelihood of a CRF; `cost = κ·[y_t ≠ gold_t]` is the softmax margin
(METHOD.md, MEMB). A further objective of this family is one more class with `costs`.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..errors import ConfigError
from ..types import Floats2d


class Costs(Protocol):
    """What a wrong label costs."""

    def costs(self, n_labels: int) -> Floats2d:
        """Cost of label `y` where `g` is observed, `[Y, Y]`."""


_LARGEST = 1e100
"""Of settings; their squares, and one over them, are still numbers."""


def _check_positive(**settings: float) -> None:
    for name, value in settings.items():
        if not 1 / _LARGEST <= value <= _LARGEST:
            raise ConfigError(
                f"The objective needs a finite {name} above 0 (from {1 / _LARGEST:g} to "
                f"{_LARGEST:g}), not {value}. Mend the [objective] block."
            )


@dataclass(frozen=True)
class Likelihood:
    """Conditional likelihood; registered as `spacy_cascade.Likelihood.v1`.

    sigma: standard deviation of the Gaussian prior on the weights.
    """

    sigma: float = 1.0

    def __post_init__(self) -> None:
        _check_positive(sigma=self.sigma)

    def costs(self, n_labels: int) -> Floats2d:
        """Cost of label `y` where `g` is observed, `[Y, Y]`: all zero."""
        return np.zeros((n_labels, n_labels))


@dataclass(frozen=True)
class SoftmaxMargin:
    """Maximum entropy with a margin; registered as `spacy_cascade.SoftmaxMargin.v1`.

    kappa: cost of a wrong label, `κ`; 0 gives the likelihood.
    sigma: standard deviation of the Gaussian prior on the weights.
    miss: factor on the cost of label 0 (outside, or rejected) where another is right;
        above 1 it trades precision for recall.
    """

    kappa: float = 1.0
    sigma: float = 1.0
    miss: float = 1.0

    def __post_init__(self) -> None:
        _check_positive(sigma=self.sigma, miss=self.miss)
        if not (math.isfinite(self.kappa) and self.kappa >= 0):
            raise ConfigError(
                f"The softmax margin needs a finite kappa of 0 or more, not {self.kappa}. "
                "Mend the [objective] block."
            )

    def costs(self, n_labels: int) -> Floats2d:
        """Cost of label `y` where `g` is observed, `[Y, Y]`."""
        return _wrong_label_costs(n_labels, self.kappa, self.miss)


@dataclass(frozen=True)
class Hinge:
    """Margin of online training; registered as `spacy_cascade.Hinge.v1`.

    The observed labels have to score higher than any others by their cost.

    kappa: cost of a wrong label. miss: factor on the cost of label 0 (outside, or rejected)
        where another is right; above 1 it trades precision for recall.
    """

    kappa: float = 1.0
    miss: float = 1.0

    def __post_init__(self) -> None:
        _check_positive(kappa=self.kappa, miss=self.miss)

    def costs(self, n_labels: int) -> Floats2d:
        """Cost of label `y` where `g` is observed, `[Y, Y]`."""
        return _wrong_label_costs(n_labels, self.kappa, self.miss)


def _wrong_label_costs(n_labels: int, kappa: float, miss: float) -> Floats2d:
    costs = kappa * (1.0 - np.eye(n_labels))
    costs[1:, 0] *= miss
    return costs
