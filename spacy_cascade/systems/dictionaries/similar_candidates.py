"""Candidates by similarity: the terms of lists whose characters are like those of an entity."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from spacy.attrs import IS_SPACE, LOWER
from spacy.tokens import Span

from ...features.span_context import FoundSpans, SpanContext
from ...features.strings import hash_strings
from ...features.tokens import Tokens
from . import term_ids
from .candidates import Candidate
from .listed_candidates import ListedCandidates
from .similarity.dictionary import TermDictionary
from .similarity.search import DictionarySearch
from .term_ids import TermIds

MEASURE = "jaro_winkler"
"""It does not depend on how terms and entities are split into tokens."""


class SimilarCandidates(ListedCandidates):
    """The entries of the most similar term, where its similarity is large enough.

    listed, entity_labels: as for `ListedCandidates`. search: among the same terms
    (`dictionary_of`). least: similarity from which on a term counts.
    """

    def __init__(
        self,
        listed: TermIds,
        entity_labels: Mapping[str, Collection[str]],
        search: DictionarySearch,
        least: float,
    ) -> None:
        super().__init__(listed, entity_labels)
        self._search, self._least = search, least

    def candidates(self, mentions: Sequence[Span]) -> Sequence[Sequence[Candidate]]:
        """Candidates of entities of one Doc; their score is the similarity."""
        nearest = self._search.nearest(MEASURE, _context(mentions))
        found: list[list[Candidate]] = [[] for _ in mentions]
        (near,) = np.nonzero((nearest.term >= 0) & (nearest.similarity >= self._least))
        dictionary = self._search.dictionary
        for i in near.tolist():
            words = dictionary.words_of(int(nearest.term[i]))
            bounds = np.zeros(1, dtype=np.int64), np.full(1, len(words), dtype=np.int64)
            (numbers,) = self._listed.find(term_ids.LOWER, words, *bounds)
            score = round(float(nearest.similarity[i]), 4)
            found[i] = self._suitable(numbers, mentions[i].label_, score)
        return found


def dictionary_of(listed: TermIds) -> TermDictionary:
    """The terms of lists as they are split at spaces."""
    terms = [listed.entry(number).term.lower().split() for number in range(len(listed))]
    words = [word for term in terms for word in term]
    keys = hash_strings(words)
    texts = dict(zip(keys.tolist(), words, strict=True))
    indptr = np.cumsum([0, *map(len, terms)], dtype=np.int64)
    return TermDictionary.of(keys, indptr, texts.__getitem__)


def _context(mentions: Sequence[Span]) -> SpanContext:
    """Entities of one Doc, without the spaces in it."""
    doc = mentions[0].doc
    table = doc.to_array([IS_SPACE, LOWER])
    is_word = table[:, 0] == 0
    place = np.append(0, np.cumsum(is_word))
    start, end = place[[[m.start for m in mentions], [m.end for m in mentions]]]
    lower = np.ascontiguousarray(table[is_word, 1], dtype=np.uint64)
    nothing, starts = np.zeros(0, dtype=np.uint64), np.array([0, len(lower)])
    tokens = Tokens(lower, lower, nothing, nothing, starts, starts)
    no_spans = np.zeros(0, dtype=np.int64)
    found = FoundSpans(no_spans, no_spans, nothing)
    return SpanContext(tokens, start, end, found, doc.vocab.strings.__getitem__)
