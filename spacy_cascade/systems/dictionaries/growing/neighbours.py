"""Terms from word vectors: words that are as near to the seeds as seeds are to each other.

Vectors are scaled to length 1 and seen from their mean, as everywhere in this package
(`numeric.k_means.directions`). A word is as like the seeds as the mean of its cosines with them.
A seed is compared with the other seeds only. With `s` of `m` seeds no more like the others than
the word is, the word is a term with probability

    p = (s - ½)/(m + 1)

This is the p-value of conformal prediction (Vovk, Gammerman and Shafer 2005, chapter 2) but for the
½: where words of the kind are spread as the seeds are, a share of `p` of them is less typical.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

import numpy as np

from ....errors import ConfigError
from ....numeric.k_means import directions, directions_from
from ....pipeline.vocabulary_vectors import VocabularyVectors
from ....types import Floats1d, Floats2d
from .evidence import Evidence, Found, distinct_seeds, normal

MOST_WORDS = 1_000_000
"""Of the table, the first ones: tables have frequent words first."""
_LEAST_SEEDS = 3
"""With fewer, nothing says how near words of the kind are to each other."""
_AT_ONCE = 1 << 16
"""Words whose vectors are in memory at once."""


SplitWords: TypeAlias = Callable[[str], list[str]]
"""The words of a term, as a tokenizer finds them."""


def from_vectors(
    seeds: Collection[str], source: str, vectors: VocabularyVectors, split: SplitWords
) -> Found:
    """Words near the seeds. source: the name of the vectors.

    A seed of several words has the mean of their vectors. What is found are single words. Raises
    `ConfigError` without seeds, without a table of words, and where fewer than three seeds have
    vectors.
    """
    known = distinct_seeds(seeds)
    words = vectors.first_words(MOST_WORDS)
    if not words:
        raise ConfigError(
            f"{source} has no table of words with vectors, so there are no words to choose from. "
            "Give a pipeline with vectors of whole words."
        )
    mean = _mean_direction(vectors, words)
    of_seeds = np.array([vectors.of(split(seed)).sum(axis=0) for seed in known.values()])
    of_seeds = of_seeds[of_seeds.any(axis=1)]
    if len(of_seeds) < _LEAST_SEEDS:
        raise ConfigError(
            f"{len(of_seeds)} of {len(known)} seeds have vectors in {source}; {_LEAST_SEEDS} are "
            "needed. Give more seeds, or other vectors."
        )
    of_seeds = directions_from(mean, directions(of_seeds))
    likeness = _likeness(vectors, words, mean, of_seeds.mean(axis=0))
    found = _near_words(source, words, likeness, _among_seeds(of_seeds))
    return Found([each for each in found if normal(each[0]) not in known], len(of_seeds))


def _mean_direction(vectors: VocabularyVectors, words: Sequence[str]) -> Floats1d:
    total = np.zeros(vectors.width)
    for begin in range(0, len(words), _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        total += directions(vectors.of(words[part])).sum(axis=0)
    return total / len(words)


def _likeness(
    vectors: VocabularyVectors, words: Sequence[str], mean: Floats1d, of_seeds: Floats1d
) -> Floats1d:
    """The mean cosine of each word with the seeds; -1 for a word without a vector."""
    found = np.full(len(words), -1.0)
    for begin in range(0, len(words), _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        rows = vectors.of(words[part])
        cosines = directions_from(mean, directions(rows)) @ of_seeds
        found[part] = np.where(rows.any(axis=1), cosines, -1.0)
    return found


def _among_seeds(of_seeds: Floats2d) -> Floats1d:
    """The mean cosine of each seed with the others, in rising order."""
    cosines = of_seeds @ of_seeds.T
    return np.sort((cosines.sum(axis=1) - cosines.diagonal()) / (len(of_seeds) - 1))


def _near_words(
    source: str, words: Sequence[str], likeness: Floats1d, of_seeds: Floats1d
) -> list[tuple[str, Evidence]]:
    """Words as near as at least one of the seeds, the nearest first."""
    reached = np.searchsorted(of_seeds, likeness, side="right")
    order = np.argsort(-likeness, kind="stable")
    best: dict[str, tuple[str, Evidence]] = {}
    for rank, word in enumerate(order[reached[order] > 0].tolist(), 1):
        s = int(reached[word])
        probability = (s - 0.5) / (len(of_seeds) + 1)
        evidence = Evidence(source, f"vectors: {likeness[word]:.2f}", s, rank, probability)
        best.setdefault(normal(words[word]), (words[word], evidence))
    return list(best.values())
