"""What diagrams show: axes, calibration, and precision against recall at each threshold."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ...pipeline.spans.placing import choose_disjoint
from ...types import Bools1d, Floats1d, Pointers1d
from .costs import Choice, Judged
from .mistakes import Score

MOST = 6
"""Steps between ticks."""
_SHORTEST = 0.02
_ROUND = (1.0, 2.0, 5.0, 10.0, 20.0)


@dataclass(frozen=True)
class Axis:
    """A piece of the line from 0 to 1 with ticks at round numbers; the ends are ticks, too."""

    ticks: list[float]

    def place(self, value: float) -> float:
        """Where a value is between the ends, from 0 to 1."""
        low, high = self.ticks[0], self.ticks[-1]
        return (value - low) / (high - low)


def axis_around(values: Iterable[float]) -> Axis:
    """The shortest axis with at most `MOST` steps of 1, 2 or 5 tens, hundredths or less.

    values: from 0 to 1; the whole line without any.
    """
    inside = list(values) or [0.0, 1.0]
    low, high = min(inside), max(inside)
    if high - low < _SHORTEST:
        low, high = max(0.0, low - _SHORTEST / 2), min(1.0, high + _SHORTEST / 2)
    power = 10.0 ** math.floor(math.log10((high - low) / MOST))
    for step in (power * factor for factor in _ROUND):
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        if last - first <= MOST:
            break
    return Axis([round(number * step, 9) for number in range(first, last + 1)])


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
