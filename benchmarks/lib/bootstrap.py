"""F1 of counts, and paired bootstrap: how certain a difference of F1 is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

SAMPLES = 2000

Counts = NDArray[np.int64]
"""Numbers of right, found and gold entities of each Doc, `[D, 3]`."""
Floats = NDArray[np.float64]


def f1(counts: Counts | Floats) -> Floats:
    """F1 in percent of counts `[…, 3]`; 0 where nothing was found and nothing is gold."""
    right, both = counts[..., 0], counts[..., 1] + counts[..., 2]
    result: Floats = 200.0 * right / np.maximum(both, 1)
    return result


def f1_of(counts: Iterable[Sequence[int]]) -> float:
    """F1 in percent of summed numbers of right, found and gold entities."""
    table = np.array(list(counts), dtype=np.int64).reshape(-1, 3)
    return float(f1(table.sum(axis=0)))


@dataclass(frozen=True)
class Difference:
    """A difference of F1, its 95 % interval, and the share of samples in which it is above 0."""

    value: float
    low: float
    high: float
    share_above: float

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0


def samples(
    counts: dict[str, Counts], n_samples: int = SAMPLES, seed: int = 0
) -> dict[str, Floats]:
    """F1 of each system on the same samples of Docs with replacement, `[n_samples]`."""
    n_docs = len(next(iter(counts.values())))
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(n_docs, np.full(n_docs, 1 / n_docs), size=n_samples)
    return {name: f1(weights @ of_docs) for name, of_docs in counts.items()}


def interval(values: Floats) -> tuple[float, float]:
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)


def differences(
    counts: dict[str, Counts], n_samples: int = SAMPLES, seed: int = 0
) -> dict[tuple[str, str], Difference]:
    """The differences of all pairs: F1 of the earlier system minus that of the later one."""
    sampled = samples(counts, n_samples, seed)
    names = list(counts)
    found = {}
    for i, left in enumerate(names):
        for right in names[i + 1 :]:
            gaps = sampled[left] - sampled[right]
            found[left, right] = _difference(_gap(counts[left], counts[right]), gaps)
    return found


def mean_difference(pairs: Sequence[tuple[Counts, Counts]], n_samples: int = SAMPLES) -> Difference:
    """The mean over corpora of F1 of one system minus that of another.

    pairs: counts of both on each corpus, of the same Docs. Docs are drawn in each corpus for
    itself.
    """
    gaps = []
    for seed, pair in enumerate(pairs):
        ours, theirs = samples(dict(zip("ab", pair, strict=True)), n_samples, seed).values()
        gaps.append(ours - theirs)
    value = fmean(_gap(*pair) for pair in pairs)
    return _difference(value, np.mean(gaps, axis=0))


def _gap(left: Counts, right: Counts) -> float:
    return float(f1(left.sum(axis=0)) - f1(right.sum(axis=0)))


def _difference(value: float, sampled: Floats) -> Difference:
    return Difference(value, *interval(sampled), float((sampled > 0).mean()))
