"""What scorers keep of a corpus or a batch, as losses and structures see it."""

from __future__ import annotations

from typing import Protocol

from ..parallel import Workers
from ..types import Floats1d, Floats2d, RealsXd


class Encoded(Protocol):
    """What one scorer looks at: units, or spans of them, `T` in all, under `K` rows of weights."""

    def scores(self, weights: RealsXd, workers: Workers) -> Floats2d:
        """Scores `[T, S]` under weights `[K, S]`, a new array."""

    def gradient(
        self, score_gradient: Floats2d, workers: Workers, out: Floats2d | None = None
    ) -> Floats2d:
        """Gradient `[K, S]` of the weights, given that of scores `[T, S]`; written to `out`."""

    def counts(self, workers: Workers) -> Floats1d:
        """How many units or spans each row of weights is used in, float64 `[K]`."""

    def release_memory(self) -> None:
        """Free what the next gradient makes again."""
