"""Term lists as features: which tokens stand inside a listed term.

A term is the sequence of its tokens, as written or in lower case. All beginnings of all terms are
kept as chained 64-bit keys: the longest term at a place is found by walking on while they match.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...errors import TemplateError
from ...features.strings import hash_string, hash_strings
from ...jit import helper, inlined
from ...numeric.hashing import HashFunction, distance, draw_hash, home, mix
from ...numeric.index import KeyIndex, frequent_keys
from ...types import Bools1d, Ints1d, Ints2d, Keys1d, Keys2d, Pointers1d
from .terms import Spellings

_SALT = np.uint64(0x51ED270B0A1F39C1)
_HALF, _ENTRY, _NO_LABEL = np.uint64(32), np.uint64(0xFFFF_FFFF), np.uint64(0)
BEGIN, INSIDE = np.uint64(1), np.uint64(2)
"""Values of a token that begins a term without a label or stands inside one."""
MAXIMUM_LABELS, LONGEST_LABEL = 1 << 16, 5_000
"""Most labels, and most characters of a label; readers of saved models refuse more."""


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


class TermTable(NamedTuple):
    """Open-addressing table for kernels.

    slots: uint64 `[size, 2]`, key, and number of the label above that of the key; 0 where empty.
    In a `KeyIndex` key and label are two more places in memory. With many terms, reading these
    places takes most of the time.
    """

    slots: Keys2d
    hashed: HashFunction


@inlined
def _place(table, key):  # type: ignore[no-untyped-def]
    """Place of the key, or an empty place."""
    last = len(table.slots) - 1
    place = home(table.hashed, key)
    while table.slots[place, 0] and table.slots[place, 0] != key:
        place = (place + 1) & last
    return place


@helper
def _fill(keys, content, table):  # type: ignore[no-untyped-def]
    """Put distinct keys into an empty table beside their content; False if it is crowded."""
    steps, size = 0, len(table.slots)
    for i in range(len(keys)):
        place = _place(table, keys[i])
        table.slots[place, 0], table.slots[place, 1] = keys[i], content[i]
        steps += distance(table.hashed, keys[i], place, size)
        if steps > size:
            return False
    return True


@helper
def _find(table, keys, places):  # type: ignore[no-untyped-def]
    for i in range(len(keys)):
        places[i] = _place(table, keys[i])


@helper
def _longest_matches(table, words, sequence_starts, value_of, values):  # type: ignore[no-untyped-def]
    for i in range(len(sequence_starts) - 1):
        t = sequence_starts[i]
        while t < sequence_starts[i + 1]:
            key = _SALT
            end, found = t, _NO_LABEL
            for u in range(t, sequence_starts[i + 1]):
                key = mix(key, words[u])
                place = _place(table, key)
                if not table.slots[place, 0]:
                    break
                label = table.slots[place, 1] >> _HALF
                if label:
                    end, found = u + 1, label
            for u in range(t, end):
                values[u] = value_of[found, 0 if u == t else 1]
            t = max(end, t + 1)


class Lexicon:
    """Keys of all beginnings of the terms, and which of them are whole terms; it is not changed.

    keys: uint64 `[n]`, distinct. label: int32 `[n]`, number of the term's label, from 1; 0 for
        what only begins a term.
    labels: their names, "" for terms without a label; those of a term with several are joined.
    is_single: bool `[n]`, terms that just one Doc of training has as a gold span; None where
        no terms are left out.
    """

    def __init__(
        self, keys: Keys1d, label: Ints1d, labels: Sequence[str], is_single: Bools1d | None = None
    ) -> None:
        self.keys, self.label, self.labels, self.is_single = keys, label, labels, is_single
        self._table = _make_table(keys, label)
        tags = [
            (hash_string(f"B-{name}"), hash_string(f"I-{name}")) if name else (BEGIN, INSIDE)
            for name in labels
        ]
        # By number of the label: at the beginning, and inside.
        self._value_of = np.array([(0, 0), *tags], dtype=np.uint64)

    def __reduce__(self) -> tuple[type[Lexicon], tuple[object, ...]]:
        return Lexicon, (self.keys, self.label, self.labels, self.is_single)

    @classmethod
    def of(cls, spellings: Spellings, form: Callable[[str], str]) -> Lexicon:
        """Build from terms; form: what of a token is compared, such as `str.lower`.

        Raises `TemplateError` where there are more or longer labels than a saved model may have.
        """
        hashes = hash_strings(map(form, spellings.texts))
        starts = spellings.words.indptr
        keys = _keys(hashes[spellings.words.indices], starts[:-1], starts[1:])
        index = KeyIndex(frequent_keys(keys, None, 1))
        entries = index.lookup(keys[starts[1:] - 1])
        label, labels = _joined(entries, spellings.label, spellings.labels, len(index))
        if len(labels) > MAXIMUM_LABELS or max(map(len, labels), default=0) > LONGEST_LABEL:
            raise TemplateError(
                f"A lexicon has {len(labels):,} labels, or one of over {LONGEST_LABEL:,} "
                f"characters; it can have {MAXIMUM_LABELS:,}. Give its terms broader labels."
            )
        return cls(index.keys, label, labels)

    @property
    def value_names(self) -> dict[int, str]:
        """What the values say: `begin` and `inside`, or with a label the tag of a span."""
        tags = [f"{tag}-{name}" for name in self.labels if name for tag in "BI"]
        return {int(BEGIN): "begin", int(INSIDE): "inside", **{hash_string(t): t for t in tags}}

    def values(self, words: Keys1d, sequence_starts: Pointers1d) -> Keys1d:
        """Value of each token by its place in a term and the term's label, 0 outside.

        The longest terms first, from the left. words: uint64 `[T]`, hashes of the tokens in the
        form that the terms have.
        """
        values = np.zeros(len(words), dtype=np.uint64)
        _longest_matches(self._table, words, sequence_starts, self._value_of, values)
        return values

    # Training

    def count_docs(self, words: Keys1d, doc_starts: Pointers1d, flags: Ints2d) -> Pointers1d:
        """In how many Docs each term is a gold span, int64 `[n]`."""
        places, docs = self._gold_terms(words, doc_starts, flags)
        pairs = np.unique(self._entries(places) * len(doc_starts) + docs)
        return np.bincount(pairs // len(doc_starts), minlength=len(self.keys))

    def with_docs(self, n_docs: Pointers1d) -> Lexicon:
        """The same, knowing in how many Docs each term is a gold span."""
        return Lexicon(self.keys, self.label, self.labels, n_docs == 1)

    def values_of_others(
        self, words: Keys1d, sequence_starts: Pointers1d, doc_starts: Pointers1d, flags: Ints2d
    ) -> Keys1d:
        """As `values`, but a Doc does not see terms that no other Doc has as a gold span.

        It sees the list as if that had been made from all other Docs. So its entities are listed
        as often as those of new text will be.
        """
        places, docs = self._gold_terms(words, doc_starts, flags)
        if self.is_single is not None:
            own = self.is_single[self._entries(places)]
            places, docs = places[own], docs[own]
        first = np.searchsorted(docs, np.arange(len(doc_starts)))
        first_sequence = np.searchsorted(sequence_starts, doc_starts)
        values = np.zeros(len(words), dtype=np.uint64)
        slots = self._table.slots.copy()
        table = self._table._replace(slots=slots)
        for doc, (begin, end) in enumerate(pairwise(doc_starts.tolist())):
            left_out = places[first[doc] : first[doc + 1]]
            slots[left_out, 1] &= _ENTRY
            starts = sequence_starts[first_sequence[doc] : first_sequence[doc + 1] + 1] - begin
            _longest_matches(table, words[begin:end], starts, self._value_of, values[begin:end])
            slots[left_out, 1] = self._table.slots[left_out, 1]
        return values

    def _gold_terms(
        self, words: Keys1d, doc_starts: Pointers1d, flags: Ints2d
    ) -> tuple[Pointers1d, Pointers1d]:
        """Places of the gold spans that are whole terms, and the number of each one's Doc."""
        start, end = np.flatnonzero(flags[:, 2]), np.flatnonzero(flags[:, 3]) + 1
        keys = whole_keys(words, start, end)
        places = np.empty(len(keys), dtype=np.int64)
        _find(self._table, keys, places)
        is_term = self._table.slots[places, 1] > _ENTRY
        docs = np.searchsorted(doc_starts, start, side="right") - 1
        return places[is_term], docs[is_term]

    def _entries(self, places: Pointers1d) -> Pointers1d:
        return np.asarray(self._table.slots[places, 1] & _ENTRY, dtype=np.int64)


def _make_table(keys: Keys1d, label: Ints1d) -> TermTable:
    content = label.astype(np.uint64) << _HALF | np.arange(len(keys), dtype=np.uint64)
    size = 1 << (3 * len(keys) // 2 + 1).bit_length()
    while True:
        table = TermTable(np.zeros((size, 2), dtype=np.uint64), draw_hash(size))
        if _fill(keys, content, table):
            return table


def _keys(words: Keys1d, start: Pointers1d, end: Pointers1d) -> Keys1d:
    keys = np.empty(int((end - start).sum()), dtype=np.uint64)
    _beginnings(words, start, end, keys)
    return keys


def whole_keys(words: Keys1d, start: Pointers1d, end: Pointers1d) -> Keys1d:
    """Keys of the words `start <= t < end` of whole terms or spans, each of a word or more."""
    last = np.cumsum(end - start) - 1
    return np.asarray(_keys(words, start, end)[last], dtype=np.uint64)


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
