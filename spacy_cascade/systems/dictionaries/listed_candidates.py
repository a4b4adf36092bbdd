"""Candidates from lists: terms that an entity is equal to, or whose characters are like its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from spacy.attrs import IS_SPACE, LOWER, ORTH
from spacy.tokens import Span

from ...features.span_context import FoundSpans, SpanContext
from ...features.strings import hash_strings
from ...features.tokens import Tokens
from ...types import Keys1d, Pointers1d
from . import term_ids
from .candidates import Candidate
from .similarity.dictionary import TermDictionary
from .similarity.search import DictionarySearch
from .term_ids import Entry, TermIds

_FORMS = ((term_ids.WRITTEN, ORTH, 1.0), (term_ids.LOWER, LOWER, 0.9))
"""What of an entity is compared, one after the other, and the score of a match."""
MEASURE = "jaro_winkler"
"""It does not depend on how terms and entities are split into tokens."""


class ListedCandidates:
    """Terms with the tokens of an entity, as written; where there are none, in lower case.

    listed: the terms. entity_labels: for lists by name, the labels of entities that they are for; a
    term of another list is for entities of its own label, or for all where it has none.
    """

    def __init__(self, listed: TermIds, entity_labels: Mapping[str, Collection[str]]) -> None:
        self._listed, self._entity_labels = listed, entity_labels

    def candidates(self, mentions: Sequence[Span]) -> Sequence[Sequence[Candidate]]:
        """Candidates of entities of one Doc, in the order of the lists, each id once."""
        found: list[list[Candidate]] = [[] for _ in mentions]
        columns, start, end = _words_of(mentions, [attribute for _, attribute, _ in _FORMS])
        (with_words,) = np.nonzero(end > start)
        for words, (form, _, score) in zip(columns, _FORMS, strict=True):
            matches = self._listed.find(form, words, start[with_words], end[with_words])
            for i, numbers in zip(with_words.tolist(), matches, strict=True):
                found[i] = found[i] or self._suitable(numbers, mentions[i].label_, score)
        return found

    def _suitable(self, numbers: Sequence[int], label: str, score: float) -> list[Candidate]:
        """Of the entries those for entities of the label."""
        by_id: dict[str, Candidate] = {}
        for number in numbers:
            entry = self._listed.entry(number)
            if self._is_for(entry, label):
                by_id.setdefault(entry.id, Candidate(entry.id, entry.term, score, entry.label))
        return list(by_id.values())

    def _is_for(self, entry: Entry, label: str) -> bool:
        if entry.list_name in self._entity_labels:
            return label in self._entity_labels[entry.list_name]
        return entry.label in ("", label)


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
    (lower,), start, end = _words_of(mentions, [LOWER])
    nothing, starts = np.zeros(0, dtype=np.uint64), np.array([0, len(lower)])
    tokens = Tokens(lower, lower, nothing, nothing, starts, starts)
    no_spans = np.zeros(0, dtype=np.int64)
    found = FoundSpans(no_spans, no_spans, nothing)
    return SpanContext(tokens, start, end, found, mentions[0].doc.vocab.strings.__getitem__)


def _words_of(
    mentions: Sequence[Span], attributes: Sequence[int]
) -> tuple[list[Keys1d], Pointers1d, Pointers1d]:
    """Attributes of the words of a Doc without the spaces in it; start and end of each mention."""
    table = mentions[0].doc.to_array([IS_SPACE, *attributes])
    is_word = table[:, 0] == 0
    place = np.append(0, np.cumsum(is_word))
    start, end = place[[[m.start for m in mentions], [m.end for m in mentions]]]
    columns = table[is_word, 1:].T
    return [np.ascontiguousarray(one, dtype=np.uint64) for one in columns], start, end
