"""Calibration: of the entities with confidence 0.8, for example, 80 % should be right."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...types import Bools1d, Floats1d

N_BINS = 10
SPARSE = 20
"""A bin with fewer entities says little: a diagram does not draw its line through it."""
_Z = 1.959963984540054
"""Normal quantile of a two-sided interval of 95 %."""


@dataclass(frozen=True)
class Bin:
    """Entities whose confidence is in `low <= confidence < high`, or 1 in the last bin.

    confidence: their mean confidence. right: the share that is right. Both are 0 in an empty bin.
    """

    low: float
    high: float
    n: int
    confidence: float
    right: float

    @property
    def is_sparse(self) -> bool:
        return self.n < SPARSE

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true share of right entities is with 95 % confidence; all without entities.

        Wilson's score interval (Wilson 1927): `(p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n)`.
        """
        if not self.n:
            return 0.0, 1.0
        squared = _Z * _Z / self.n
        centre = self.right + squared / 2
        reach = _Z * math.sqrt(self.right * (1 - self.right) / self.n + squared / (4 * self.n))
        low, high = ((centre + sign * reach) / (1 + squared) for sign in (-1, 1))
        return max(0.0, low), min(1.0, high)


@dataclass(frozen=True)
class Reliability:
    """Bins of equal width from 0 to 1, in order, and the expected calibration error."""

    bins: list[Bin]
    n: int
    error: float

    @property
    def has_sparse(self) -> bool:
        return any(b.n and b.is_sparse for b in self.bins)


def measure_reliability(
    confidences: Sequence[float], is_right: Sequence[bool], n_bins: int = N_BINS
) -> Reliability:
    """How far the confidences are from the shares of right entities.

    The expected calibration error is the mean distance between the two over the bins, weighted by
    the numbers of entities in them: `ECE = Σ_b n_b/n · |right_b - confidence_b|`.
    """
    values: Floats1d = np.clip(np.asarray(confidences, dtype=np.float64), 0.0, 1.0)
    right: Bools1d = np.asarray(is_right, dtype=np.bool_)
    number = np.minimum((values * n_bins).astype(np.int64), n_bins - 1)
    bins = []
    for b in range(n_bins):
        inside = number == b
        n = int(inside.sum())
        means = (float(values[inside].mean()), float(right[inside].mean())) if n else (0.0, 0.0)
        bins.append(Bin(b / n_bins, (b + 1) / n_bins, n, *means))
    total = sum(b.n * abs(b.right - b.confidence) for b in bins)
    return Reliability(bins, len(values), total / len(values) if len(values) else 0.0)
