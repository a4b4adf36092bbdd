"""The measures of similarity by their names, each with its index and the steps of its values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from ....types import Floats1d, Keys1d
from . import phrases
from .dictionary import TermDictionary
from .overlap import WordIndex, search_by_words
from .query import pairs_of, tokens_together
from .seen_words import Matches, Seen, SeenWords
from .spans import AskedSpans, Found

_ROUNDING = 1e-6
"""What sums of weights lose; a step begins so much earlier."""


class Measure(ABC):
    """A measure over a dictionary.

    steps: where one step of the values ends and the next begins. The last one holds only terms
    that are equal under the measure; smaller similarities than the first one do not count.
    """

    steps: ClassVar[tuple[float, ...]]

    @abstractmethod
    def search(self, seen: Seen, asked: AskedSpans, memory: Keys1d) -> Found:
        """The most similar term of each span."""

    @classmethod
    def describe(cls, step: int) -> str:
        """A step for readers, such as `0.8-0.9`."""
        bounds = [f"{bound:g}" for bound in cls.steps]
        return "-".join(bounds[step - 1 : step + 1])

    @property
    def edges(self) -> Floats1d:
        """Where the steps begin."""
        return np.array(self.steps) - _ROUNDING


class Jaccard(Measure):
    """Over the distinct words of span and term, in lower case: those that are equal match."""

    steps = (0.6, 0.7, 0.8, 0.9, 1.0)
    is_jaccard: ClassVar[bool] = True

    def __init__(self, dictionary: TermDictionary, words: SeenWords) -> None:
        del words
        self._index = WordIndex.of(dictionary, self.is_jaccard, self.steps[0])
        self._pairs = pairs_of(dictionary)

    def matches(self, seen: Seen) -> Matches:
        """The words that match."""
        return seen.table.equal

    def search(self, seen: Seen, asked: AskedSpans, memory: Keys1d) -> Found:
        matches = self.matches(seen)
        together = tokens_together(self._pairs, seen.rows, matches, asked.longest)
        return search_by_words(self._index, together, seen, matches, asked, self.edges, memory)


class TfIdf(Jaccard):
    """Soft TF-IDF: words count by their rarity, and similar words match."""

    steps = (0.8, 0.85, 0.9, 0.95, 1.0)
    is_jaccard = False

    def matches(self, seen: Seen) -> Matches:
        return seen.table.close


class JaroWinkler(Measure):
    """Over the characters of span and term."""

    steps = (phrases.LEAST, 0.9, 0.95, 1.0)

    def __init__(self, dictionary: TermDictionary, words: SeenWords) -> None:
        self._index = phrases.PhraseIndex.of(dictionary, words.encoded)

    def search(self, seen: Seen, asked: AskedSpans, memory: Keys1d) -> Found:
        return phrases.search_by_characters(self._index, seen, asked, self.edges, memory)


MEASURES: dict[str, type[Jaccard] | type[TfIdf] | type[JaroWinkler]] = {
    "jaccard": Jaccard,
    "tfidf": TfIdf,
    "jaro_winkler": JaroWinkler,
}
