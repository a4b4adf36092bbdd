"""Searches a dictionary for the terms that are similar to spans."""

from __future__ import annotations

from typing import NamedTuple
from weakref import ref

import numpy as np

from ....features.span_context import SpanContext
from ....types import Ints1d, Keys1d
from .dictionary import TermDictionary, gold_terms
from .measures import MEASURES, Measure
from .memory import make_memory, no_memory
from .seen_words import Seen, SeenWords
from .spans import AskedSpans, Found


class _Latest(NamedTuple):
    """What was found when the search was asked last."""

    spans: ref[SpanContext]
    measure: str
    steps: Ints1d


class DictionarySearch:
    """A dictionary with the indexes that were needed so far, and what was found so far.

    Threads may share it: what two of them make at once is the same.
    """

    def __init__(self, dictionary: TermDictionary) -> None:
        self.dictionary = dictionary
        self._seen: SeenWords | None = None
        self._measures: dict[str, Measure] = {}
        self._memories: dict[tuple[str, bool], Keys1d] = {}
        self._latest: _Latest | None = None

    def __reduce__(self) -> tuple[type[DictionarySearch], tuple[TermDictionary]]:
        return DictionarySearch, (self.dictionary,)

    def _words(self) -> SeenWords:
        if self._seen is None:
            self._seen = SeenWords(self.dictionary)
        return self._seen

    def measure(self, name: str) -> Measure:
        """The similarity of words and terms."""
        if name not in self._measures:
            self._measures[name] = MEASURES[name](self.dictionary, self._words())
        return self._measures[name]

    def steps(self, name: str, spans: SpanContext) -> Ints1d:
        """Steps of the similarities of spans, int32 `[U]`, 0 where there is none.

        A phrase that recurs is searched for once. In training what is left out depends on the Doc,
        and so what was found for one Doc is not used for another. What was asked last is kept.
        """
        latest = self._latest
        if latest is not None and latest.spans() is spans and latest.measure == name:
            return latest.steps
        asked = self._asked(spans)
        memory = self._memory((name, spans.text_of is not None), asked)
        found = self.measure(name).search(self._see(spans), asked, memory).step
        self._latest = _Latest(ref(spans), name, found)
        return found

    def nearest(self, name: str, spans: SpanContext) -> Found:
        """The most similar term of each span, by its number in the dictionary."""
        asked = self._asked(spans)
        return self.measure(name).search(self._see(spans), asked, no_memory())

    def _see(self, spans: SpanContext) -> Seen:
        words = spans.tokens.lower
        if spans.text_of is None or not self.dictionary.has_texts:
            return self._words().see_without_texts(words)
        return self._words().see(words, spans.text_of)

    def _memory(self, kind: tuple[str, bool], asked: AskedSpans) -> Keys1d:
        """The memory of a measure with texts or without; an own one where terms are left out."""
        if len(asked.owner):
            return make_memory()
        if kind not in self._memories:
            self._memories[kind] = make_memory()
        return self._memories[kind]

    def _asked(self, spans: SpanContext) -> AskedSpans:
        """The spans, and for a dictionary that leaves out own terms those of each Doc."""
        tokens = spans.tokens
        start, end = np.ascontiguousarray(spans.start), np.ascontiguousarray(spans.end)
        doc, owner = np.zeros(len(start), dtype=np.int64), np.zeros(0, dtype=np.int32)
        n_docs = self.dictionary.n_docs
        if n_docs is not None and spans.own_flags is not None:
            doc = np.searchsorted(tokens.doc_starts, start, side="right") - 1
            terms, docs = gold_terms(self.dictionary, tokens, spans.own_flags)
            owner = np.full(len(n_docs), -1, dtype=np.int32)
            is_own = n_docs[terms] == 1
            owner[terms[is_own]] = docs[is_own]
        return AskedSpans(tokens.lower, start, end, doc, owner)
