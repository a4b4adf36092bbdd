"""Precision against recall: the effect of thresholds on the confidence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...pipeline.spans.placing import choose_disjoint
from ...types import Bools1d, Floats1d, Pointers1d
from .costs import Choice, Judged
from .counts import Score

STEPS = 100
"""Number of steps from threshold 0 to threshold 1."""


@dataclass(frozen=True)
class Sweep:
    """Scores of the entities that each threshold on the confidence gives."""

    thresholds: list[float]
    scores: list[Score]

    @property
    def best(self) -> int:
        """Index of the lowest threshold with the highest F1."""
        return max(range(len(self.scores)), key=lambda i: self.scores[i].f1)

    def every(self, step: int) -> list[tuple[float, Score]]:
        return list(zip(self.thresholds, self.scores, strict=True))[::step]


def sweep(docs: Sequence[Judged]) -> Sweep | None:
    """Scores for thresholds from 0 to 1; None if no span has a confidence.

    Among overlapping spans, those with the largest sum of `confidence - threshold` are chosen. An
    entity without a confidence is kept at every threshold.
    """
    choices = [
        judged.choices or list(zip(judged.comparison.predicted, judged.confidences, strict=True))
        for judged in docs
    ]
    start, end = _in_a_row(choices)
    return _sweep(docs, choices, lambda gains: choose_disjoint(start, end, gains))


def sweep_listed(docs: Sequence[Judged]) -> Sweep | None:
    """Scores of all spans that a segmenter lists, overlapping or not; None if it lists none."""
    return _sweep(docs, [judged.choices or () for judged in docs], lambda gains: gains >= 0)


def _sweep(
    docs: Sequence[Judged], choices: Sequence[Sequence[Choice]], keep: Callable[[Floats1d], Bools1d]
) -> Sweep | None:
    """keep: decides which spans are taken, given `confidence - threshold`."""
    confidences = [confidence for of_doc in choices for _, confidence in of_doc]
    if all(confidence is None for confidence in confidences):
        return None
    gold = [set(judged.comparison.gold) for judged in docs]
    pairs = zip(gold, choices, strict=True)
    is_right = [entity in known for known, of_doc in pairs for entity, _ in of_doc]
    values: Floats1d = np.array([1.0 if c is None else c for c in confidences])
    right = np.array(is_right, dtype=np.bool_)
    n_gold = sum(map(len, gold))
    thresholds = [i / STEPS for i in range(STEPS + 1)]
    scores = []
    for threshold in thresholds:
        kept = keep(values - threshold)
        scores.append(Score(int((kept & right).sum()), n_gold, int(kept.sum())))
    return Sweep(thresholds, scores)


def _in_a_row(choices: Sequence[Sequence[Choice]]) -> tuple[Pointers1d, Pointers1d]:
    """Bounds of the spans as if all Docs were concatenated, int64 `[P]` each."""
    bounds: list[tuple[int, int]] = []
    offset = 0
    for of_doc in choices:
        own = [(start + offset, end + offset) for (start, end, _), _ in of_doc]
        bounds.extend(own)
        offset = max((end for _, end in own), default=offset)
    start, end = np.array(bounds, dtype=np.int64).reshape(-1, 2).T
    return start, end
