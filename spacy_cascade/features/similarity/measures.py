"""The measures of similarity by their names, each with its index and the steps of its values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from ...types import Bools1d, Ints1d
from . import jaccard, phrases, tfidf
from .dictionary import TermDictionary
from .seen_words import Seen, SeenWords
from .spans import AskedSpans, Nearest

_ROUNDING = 1e-6
"""What sums of weights lose; a step begins so much earlier."""


class Measure(ABC):
    """A measure over a dictionary.

    steps: where one step of the values ends and the next begins. The last one holds only terms
    that are equal under the measure; smaller similarities than the first one do not count.
    """

    steps: ClassVar[tuple[float, ...]]

    @abstractmethod
    def reachable(self, seen: Seen, asked: AskedSpans) -> Bools1d:
        """Which spans can be similar to a term at all, found out quickly."""

    @abstractmethod
    def nearest(self, seen: Seen, asked: AskedSpans) -> Nearest:
        """The most similar term of spans that are reachable."""

    @classmethod
    def step_of(cls, nearest: Nearest) -> Ints1d:
        """Number of the step that each similarity is in, from 1; 0 where there is none."""
        steps = np.digitize(nearest.similarity, np.array(cls.steps) - _ROUNDING)
        return np.where(nearest.term >= 0, steps, 0).astype(np.int32)

    @classmethod
    def describe(cls, step: int) -> str:
        """A step for readers, such as `0.8-0.9`."""
        bounds = [f"{bound:g}" for bound in cls.steps]
        return "-".join(bounds[step - 1 : step + 1])


class Jaccard(Measure):
    """Over the distinct words of span and term, in lower case."""

    steps = (jaccard.LEAST, 0.7, 0.8, 0.9, 1.0)

    def __init__(self, dictionary: TermDictionary, words: SeenWords) -> None:
        del words
        self._index = jaccard.JaccardIndex.of(dictionary)

    def reachable(self, seen: Seen, asked: AskedSpans) -> Bools1d:
        return jaccard.reachable_by_words(seen, asked)

    def nearest(self, seen: Seen, asked: AskedSpans) -> Nearest:
        return Nearest(*jaccard.nearest_by_words(self._index, seen, asked))


class TfIdf(Measure):
    """Soft TF-IDF: words count by their rarity, and similar words match."""

    steps = (tfidf.LEAST, 0.8, 0.9, 0.95, 1.0)

    def __init__(self, dictionary: TermDictionary, words: SeenWords) -> None:
        del words
        self._index = tfidf.TfIdfIndex.of(dictionary)

    def reachable(self, seen: Seen, asked: AskedSpans) -> Bools1d:
        return tfidf.reachable_by_weight(self._index, seen, asked)

    def nearest(self, seen: Seen, asked: AskedSpans) -> Nearest:
        return Nearest(*tfidf.nearest_by_weight(self._index, seen, asked))


class JaroWinkler(Measure):
    """Over the characters of span and term."""

    steps = (phrases.LEAST, 0.85, 0.9, 0.95, 1.0)

    def __init__(self, dictionary: TermDictionary, words: SeenWords) -> None:
        self._index = phrases.PhraseIndex.of(dictionary, words.encoded)

    def reachable(self, seen: Seen, asked: AskedSpans) -> Bools1d:
        return phrases.reachable_by_characters(self._index, seen, asked)

    def nearest(self, seen: Seen, asked: AskedSpans) -> Nearest:
        return Nearest(*phrases.nearest_by_characters(self._index, seen, asked))


MEASURES: dict[str, type[Jaccard] | type[TfIdf] | type[JaroWinkler]] = {
    "jaccard": Jaccard,
    "tfidf": TfIdf,
    "jaro_winkler": JaroWinkler,
}
