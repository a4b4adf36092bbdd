"""Which tokens of a batch are abbreviations that their Doc explains, and of what."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...features.strings import hash_string, hash_strings
from ...jit import inlined, kernel
from ...numeric.hashing import HashTable, mix, probe
from ...numeric.index import KeyIndex
from ...types import Ints1d, Keys1d, Pointers1d, Pointers2d

MOST_TOKENS = 5
"""Longest short form in tokens: `TGF - beta 1`."""


class Abbreviations(NamedTuple):
    """The abbreviations that are explained in a batch, in the order of their brackets.

    short, long: int64 `[A, 2]`, start and end (exclusive) of both forms among the tokens of the
    batch. other_number: uint64 `[A]`, hash of the short form's last word with a final `s`, or
    without it where it has one.
    """

    short: Pointers2d
    long: Pointers2d
    other_number: Keys1d

    @classmethod
    def none(cls) -> Abbreviations:
        nowhere = np.zeros((0, 2), dtype=np.int64)
        return cls(nowhere, nowhere, np.zeros(0, dtype=np.uint64))


_N_FIRST_WORDS = np.uint64(4096)


def link_abbreviations(
    words: Keys1d, sequence_starts: Pointers1d, doc_starts: Pointers1d, found: Abbreviations
) -> Ints1d:
    """Number of the abbreviation that each token is or is part of, int32 `[T]`, -1 for none.

    Short forms are known by their words as they are written, anywhere in the Doc that explains
    them, the last word also with or without a final `s`. The longest one counts, from the left; of
    several explanations the first.
    """
    if not len(found.short):
        return np.full(len(words), -1, dtype=np.int32)
    docs = np.searchsorted(doc_starts, found.short[:, 0], side="right") - 1
    keys = short_form_keys(words, docs, found.short, found.other_number)
    # As they are written first, so that another one's plural does not hide a short form.
    distinct, place = np.unique(keys.T.reshape(-1), return_index=True)
    numbers = (place % len(docs)).astype(np.int32)
    of_sequences = np.searchsorted(doc_starts, sequence_starts[:-1], side="right") - 1
    first_words = np.append(words[found.short[:, 0]], found.other_number)
    linked: Ints1d = KeyIndex(distinct).apply(
        linked_tokens, numbers, first_words, words, sequence_starts, of_sequences
    )
    return linked


@inlined
def _begun(doc):  # type: ignore[no-untyped-def]
    """Key of a phrase of a Doc before its first word."""
    return mix(np.uint64(0), np.uint64(doc + 1))


@kernel
def short_form_keys(
    words: Keys1d, docs: Pointers1d, short: Pointers2d, other_number: Keys1d
) -> Keys1d:
    """Keys of short forms, uint64 `[A, 2]`: as they are written, and in the other number."""
    keys = np.empty((len(short), 2), dtype=np.uint64)
    for a in range(len(short)):
        key = _begun(docs[a])
        for t in range(short[a, 0], short[a, 1] - 1):
            key = mix(key, words[t])
        keys[a, 0] = mix(key, words[short[a, 1] - 1])
        keys[a, 1] = mix(key, other_number[a])
    return keys


@kernel
def linked_tokens(
    table: HashTable,
    numbers: Ints1d,
    first_words: Keys1d,
    words: Keys1d,
    sequence_starts: Pointers1d,
    of_sequences: Pointers1d,
) -> Ints1d:
    """Number of the abbreviation of each token: from the left, the longest phrase in the table.

    numbers: of the abbreviation of each key. first_words: those of all phrases, so that other words
    need no search. of_sequences: the Doc of each sequence.
    """
    linked = np.full(len(words), -1, dtype=np.int32)
    may_begin = np.zeros(_N_FIRST_WORDS, dtype=np.bool_)
    for word in first_words:
        may_begin[word % _N_FIRST_WORDS] = True
    for sequence in range(len(of_sequences)):
        t, end = sequence_starts[sequence], sequence_starts[sequence + 1]
        while t < end:
            if not may_begin[words[t] % _N_FIRST_WORDS]:
                t += 1
                continue
            key, best, after = _begun(of_sequences[sequence]), -1, t + 1
            for k in range(t, min(t + MOST_TOKENS, end)):
                key = mix(key, words[k])
                place = table.places[probe(table, key)]
                if place >= 0:
                    best, after = numbers[place], k + 1
            linked[t:after] = best
            t = after
    return linked


_PARTS = ("short_first", "short_inside", "long_first", "long_inside", "long_last", "used")
_SHORT_FIRST, _SHORT_INSIDE, _LONG_FIRST, _LONG_INSIDE, _LONG_LAST, _USED = hash_strings(_PARTS)
PARTS = {hash_string(text): text for text in _PARTS}
"""Values of the attribute `abbreviation`, and their texts."""


def abbreviation_parts(abbreviation_of: Ints1d, found: Abbreviations) -> Keys1d:
    """Values of `PARTS` for all tokens, uint64 `[T]`, 0 for none.

    Where a short form is explained and where its long form stands, the place in that form; at other
    places of a short form, that it is used.
    """
    parts: Keys1d = np.where(abbreviation_of >= 0, _USED, np.uint64(0))
    for start, end in found.long.tolist():
        parts[start:end] = _LONG_INSIDE
        parts[end - 1] = _LONG_LAST
        parts[start] = _LONG_FIRST
    for start, end in found.short.tolist():
        parts[start:end] = _SHORT_INSIDE
        parts[start] = _SHORT_FIRST
    return parts
