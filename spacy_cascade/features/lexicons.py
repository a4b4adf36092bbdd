"""Term lists as features: which tokens stand inside a listed term.

A term is the sequence of its tokens, as written or in lower case. All beginnings of all
terms are kept as chained 64-bit keys, so the longest term at a place is found by walking
on as long as a beginning matches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..inference.hashing import mix, probe
from ..jit import helper
from ..types import Bools1d, Ints1d, Ints2d, Keys1d, Keys2d, Pointers1d
from .index import KeyIndex, frequent_keys
from .strings import hash_string, hash_strings
from .terms import Spellings

_SALT = np.uint64(0x51ED270B0A1F39C1)
BEGIN, INSIDE = np.uint64(1), np.uint64(2)
"""Values of a token that begins a term without a label or stands inside one."""


@helper
def _beginnings(words, start, end, keys):  # type: ignore[no-untyped-def]
    """Keys of all beginnings, one after another, of the words `start <= t < end` of each term."""
    n = 0
    for i in range(len(start)):
        key = _SALT
        for t in range(start[i], end[i]):
            key = mix(key, words[t])
            keys[n] = key
            n += 1


@helper
def _longest_matches(table, keys, label, words, sequence_starts, value_of, values):  # type: ignore[no-untyped-def]
    for i in range(len(sequence_starts) - 1):
        t = sequence_starts[i]
        while t < sequence_starts[i + 1]:
            key = _SALT
            end, found = t, 0
            for u in range(t, sequence_starts[i + 1]):
                key = mix(key, words[u])
                entry = table[probe(table, keys, key)]
                if entry < 0:
                    break
                if label[entry]:
                    end, found = u + 1, label[entry]
            for u in range(t, end):
                values[u] = value_of[found, 0 if u == t else 1]
            t = max(end, t + 1)


@dataclass(frozen=True)
class Lexicon:
    """Keys of all beginnings of the terms, and which of them are whole terms.

    label: int32 `[n]`, number of the term's label, from 1; 0 for what only begins a term.
    labels: their names, "" for terms without a label; those of a term with several are joined.
    is_single: bool `[n]`, terms that just one Doc of training has as a gold span; None where
        no terms are left out.
    """

    index: KeyIndex
    label: Ints1d
    labels: Sequence[str]
    is_single: Bools1d | None = None

    @classmethod
    def of(cls, spellings: Spellings, form: Callable[[str], str]) -> Lexicon:
        """Build from terms; form: what of a token is compared, such as `str.lower`."""
        hashes = hash_strings(map(form, spellings.texts))
        starts = spellings.words.starts
        keys = _keys(hashes[spellings.words.columns], starts[:-1], starts[1:])
        index = KeyIndex(frequent_keys(keys, None, 1))
        entries = index.lookup(keys[starts[1:] - 1])
        return cls(index, *_joined(entries, spellings.label, spellings.labels, len(index)))

    @cached_property
    def _value_of(self) -> Keys2d:
        """Values by number of the label: at the beginning, and inside."""
        return np.array(
            [(0, 0)]
            + [
                (hash_string(f"B-{name}"), hash_string(f"I-{name}")) if name else (BEGIN, INSIDE)
                for name in self.labels
            ],
            dtype=np.uint64,
        )

    def values(self, words: Keys1d, sequence_starts: Pointers1d) -> Keys1d:
        """Value of each token by its place in a term and the term's label, 0 outside.

        The longest terms first, from the left. words: uint64 `[T]`, hashes of the tokens in the
        form that the terms have.
        """
        values = np.zeros(len(words), dtype=np.uint64)
        self._match(self.label, words, sequence_starts, values)
        return values

    def _match(
        self, label: Ints1d, words: Keys1d, sequence_starts: Pointers1d, values: Keys1d
    ) -> None:
        self.index.apply(_longest_matches, label, words, sequence_starts, self._value_of, values)

    # Training

    def learn(self, words: Keys1d, doc_starts: Pointers1d, flags: Ints2d) -> Lexicon:
        """The same terms, with those found out that just one Doc has as a gold span.

        flags: gold flags of the tokens (`evidence.span_flags`).
        """
        entries, docs = self._gold_terms(words, doc_starts, flags)
        pairs = np.unique(entries * len(doc_starts) + docs)
        n_docs = np.bincount(pairs // len(doc_starts), minlength=len(self.index))
        return replace(self, is_single=n_docs == 1)

    def values_of_others(
        self, words: Keys1d, sequence_starts: Pointers1d, doc_starts: Pointers1d, flags: Ints2d
    ) -> Keys1d:
        """As `values`, but a Doc does not see terms that no other Doc has as a gold span.

        It sees the list as if that had been made from all Docs but this one: then its entities
        are listed as often as those of new text will be.
        """
        entries, docs = self._gold_terms(words, doc_starts, flags)
        if self.is_single is not None:
            own = self.is_single[entries]
            entries, docs = entries[own], docs[own]
        first = np.searchsorted(docs, np.arange(len(doc_starts)))
        first_sequence = np.searchsorted(sequence_starts, doc_starts)
        values = np.zeros(len(words), dtype=np.uint64)
        label = self.label.copy()
        for doc, (begin, end) in enumerate(pairwise(doc_starts.tolist())):
            left_out = entries[first[doc] : first[doc + 1]]
            label[left_out] = 0
            starts = sequence_starts[first_sequence[doc] : first_sequence[doc + 1] + 1] - begin
            self._match(label, words[begin:end], starts, values[begin:end])
            label[left_out] = self.label[left_out]
        return values

    def _gold_terms(
        self, words: Keys1d, doc_starts: Pointers1d, flags: Ints2d
    ) -> tuple[Pointers1d, Pointers1d]:
        """Entries of the gold spans that are whole terms, and the number of each one's Doc."""
        start, end = np.flatnonzero(flags[:, 2]), np.flatnonzero(flags[:, 3]) + 1
        keys = _keys(words, start, end)[np.cumsum(end - start) - 1]
        entries = self.index.lookup(keys).astype(np.int64)
        is_term = np.append(self.label, 0)[entries] > 0
        docs = np.searchsorted(doc_starts, start, side="right") - 1
        return entries[is_term], docs[is_term]


def _keys(words: Keys1d, start: Pointers1d, end: Pointers1d) -> Keys1d:
    keys = np.empty(int((end - start).sum()), dtype=np.uint64)
    _beginnings(words, start, end, keys)
    return keys


def _joined(
    entries: Ints1d, number: Ints1d, names: Sequence[str], n_entries: int
) -> tuple[Ints1d, list[str]]:
    """Label of each entry, and the names of labels; several of an entry make a new one."""
    pairs = np.unique(entries.astype(np.int64) * (len(names) + 1) + number)
    entry, numbers = np.divmod(pairs, len(names) + 1)
    label = np.zeros(n_entries, dtype=np.int32)
    label[entry] = numbers
    number_of = {name: i for i, name in enumerate(names, start=1)}
    for several in np.unique(entry[1:][entry[1:] == entry[:-1]]).tolist():
        part = numbers[slice(*np.searchsorted(entry, (several, several + 1)))]
        name = "|".join(sorted(names[i - 1] for i in part.tolist()))
        label[several] = number_of.setdefault(name, len(number_of) + 1)
    return label, list(number_of)
