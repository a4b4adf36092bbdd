"""The measures of similarity by their names, each with its index and the steps of its values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from ....types import Floats1d, Keys1d
from . import jaccard, phrases, tfidf, weighted_query
from .dictionary import TermDictionary
from .seen_words import Seen, SeenWords
from .spans import AskedSpans, Found
from .together import pairs_of, tokens_together

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
    """Over the distinct words of span and term, in lower case."""

    steps = (jaccard.LEAST, 0.7, 0.8, 0.9, 1.0)

    def __init__(self, dictionary: TermDictionary, words: SeenWords) -> None:
        del words
        self._index = jaccard.JaccardIndex.of(dictionary)
        self._pairs = pairs_of(dictionary)

    def search(self, seen: Seen, asked: AskedSpans, memory: Keys1d) -> Found:
        everywhere = np.arange(len(seen.rows) + 1)
        matching = everywhere[:-1].astype(np.int32), everywhere, seen.table.number[seen.rows]
        together = tokens_together(self._pairs, *matching, asked.longest)
        return jaccard.search_by_words(self._index, together, seen, asked, self.edges, memory)


class TfIdf(Measure):
    """Soft TF-IDF: words count by their rarity, and similar words match."""

    steps = (weighted_query.LEAST, 0.85, 0.9, 0.95, 1.0)

    def __init__(self, dictionary: TermDictionary, words: SeenWords) -> None:
        del words
        self._index = tfidf.TfIdfIndex.of(dictionary)
        self._pairs = pairs_of(dictionary)

    def search(self, seen: Seen, asked: AskedSpans, memory: Keys1d) -> Found:
        matching = seen.rows, seen.table.close_starts, seen.table.close
        together = tokens_together(self._pairs, *matching, asked.longest)
        return tfidf.search_by_weight(self._index, together, seen, asked, self.edges, memory)


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
