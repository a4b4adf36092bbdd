"""Temperatures that make confidences agree with how often spans are right.

A log-linear model that was trained with a margin, or online, finds the best labels but is too
sure of them. Its scores divided by a temperature above 1 have the same best labels and flatter
probabilities (Guo et al. 2017, On Calibration of Modern Neural Networks).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeGuard, runtime_checkable

import numpy as np
from spacy.training import Example

from ..numeric.brent import least_point
from ..types import Bools1d, Floats1d

RANGE = (1 / 32, 32.0)
"""Temperatures that can be chosen."""
_TOLERANCE = 1e-5
"""Of the logarithm of a temperature."""
_SMALLEST = 1e-12
_DIGITS = 3


@dataclass(frozen=True)
class Outcomes:
    """What was found, and how sure the component is of it at each temperature.

    right: bool `[P]`. confidences: gives float64 `[P]` for a temperature.
    """

    right: Bools1d
    confidences: Callable[[float], Floats1d]


@runtime_checkable
class HasConfidences(Protocol):
    """A component whose confidences depend on a temperature.

    Its option `confidence` says whether it gives any.
    """

    def outcomes(self, examples: Sequence[Example]) -> Outcomes:
        """What the component finds in the predicted Docs, judged by the references."""
        ...


def gives_confidences(pipe: object) -> TypeGuard[HasConfidences]:
    """Whether a component gives confidences that depend on a temperature."""
    return isinstance(pipe, HasConfidences) and bool(getattr(pipe, "confidence", False))


def log_loss(outcomes: Outcomes, temperature: float) -> float:
    """Mean negative log-likelihood of smoothed outcomes under the confidences.

    A right span counts as `(n + 1) / (n + 2)` where `n` are right, a wrong one as `1 / (m + 2)`
    where `m` are wrong, so that a few spans that are all right make nobody certain (Platt 1999,
    Probabilistic Outputs for Support Vector Machines, section 2.2).
    """
    right = outcomes.right
    n_right, n = int(right.sum()), len(right)
    wanted = np.where(right, (n_right + 1) / (n_right + 2), 1 / (n - n_right + 2))
    found = np.clip(outcomes.confidences(temperature), _SMALLEST, 1 - _SMALLEST)
    return -float(np.mean(wanted * np.log(found) + (1 - wanted) * np.log1p(-found)))


def best_temperature(outcomes: Outcomes) -> float:
    """The temperature of least log loss, by Brent's method on its logarithm."""
    low, high = map(math.log, RANGE)
    place = least_point(lambda x: log_loss(outcomes, math.exp(x)), low, high, _TOLERANCE)
    return round(math.exp(place), _DIGITS)
