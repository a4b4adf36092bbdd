"""Precision against recall: what thresholds on the confidence would do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..types import Floats1d
from .costs import Judged
from .counts import Score
from .mistakes import Kind

STEPS = 100
"""Thresholds from 0 to 1 are this many steps apart."""


@dataclass(frozen=True)
class Sweep:
    """Scores if only entities of so much confidence were kept: a score for each threshold."""

    thresholds: list[float]
    scores: list[Score]

    @property
    def best(self) -> int:
        """Number of the threshold with the best F1, of equals the lowest."""
        return max(range(len(self.scores)), key=lambda i: self.scores[i].f1)

    def every(self, step: int) -> list[tuple[float, Score]]:
        """Some of the thresholds, with their scores."""
        return list(zip(self.thresholds, self.scores, strict=True))[::step]


def sweep(docs: Sequence[Judged]) -> Sweep | None:
    """Scores for thresholds from 0 to 1; None where no predicted entity has a confidence.

    An entity without confidence is kept at every threshold.
    """
    confidences: list[float | None] = [c for judged in docs for c in judged.confidences]
    if all(confidence is None for confidence in confidences):
        return None
    is_right = [kind is Kind.RIGHT for judged in docs for kind in judged.comparison.predicted_kinds]
    n_gold = sum(len(judged.comparison.gold) for judged in docs)
    values: Floats1d = np.array([1.0 if c is None else c for c in confidences])
    right = np.array(is_right, dtype=np.bool_)
    thresholds = [i / STEPS for i in range(STEPS + 1)]
    scores = []
    for threshold in thresholds:
        kept = values >= threshold
        scores.append(Score(int((kept & right).sum()), n_gold, int(kept.sum())))
    return Sweep(thresholds, scores)
