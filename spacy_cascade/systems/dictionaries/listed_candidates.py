"""Candidates by exact matching: terms of lists that an entity is equal to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from spacy.attrs import IS_SPACE, LOWER, ORTH
from spacy.tokens import Span

from . import term_ids
from .candidates import Candidate
from .term_ids import Entry, TermIds

_FORMS = ((term_ids.WRITTEN, ORTH, 1.0), (term_ids.LOWER, LOWER, 0.9))
"""What of an entity is compared, one after the other, and the score of a match."""


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
        table = mentions[0].doc.to_array([IS_SPACE, *(attribute for _, attribute, _ in _FORMS)])
        is_word = table[:, 0] == 0
        place = np.append(0, np.cumsum(is_word))
        start, end = place[[[m.start for m in mentions], [m.end for m in mentions]]]
        (with_words,) = np.nonzero(end > start)
        for column, (form, _, score) in enumerate(_FORMS, start=1):
            words = np.ascontiguousarray(table[is_word, column], dtype=np.uint64)
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
