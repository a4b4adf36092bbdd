"""The words of texts as a dictionary sees them: their numbers, characters, and similar words.

Each distinct word is looked at once. Two words are close if their Jaro-Winkler similarity is 0.9 or
more and their first three characters are the same; without the second condition every word would
be compared with most of the dictionary.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ....jit import helper, inlined, kernel
from ....numeric.arrays import Array, grown
from ....numeric.index import KeyIndex
from ....parallel import LEXEME_LOCK
from ....types import Floats1d, Ints1d, Keys1d, Pointers1d
from .characters import Alphabet, Bytes1d, Encoded, bits_of, packed
from .dictionary import TermDictionary, texts_of
from .jaro_winkler import MOST_CHARACTERS, jaro_winkler, most_similar

CLOSE = 0.9
MOST_CLOSE = 4
"""A word has at most so many close words: the most similar ones."""
SHARED = 3
_MOST_SEEN = 200_000
_FIFTHS, _THIRDS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_NIBBLES, _BYTES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


class _Vocabulary(NamedTuple):
    """Words of the dictionary, those with the same first three characters side by side.

    heads: uint64, the distinct beginnings, ascending. starts: int64, the words of each. numbers:
    int32, which words. signs: uint64 beside them, a bit for each character. characters,
    character_starts: of the words by number.
    """

    heads: Keys1d
    starts: Pointers1d
    numbers: Ints1d
    signs: Keys1d
    characters: Bytes1d
    character_starts: Pointers1d

    @classmethod
    def of(cls, encoded: Encoded) -> _Vocabulary:
        lengths = np.diff(encoded.starts)
        heads = packed(encoded, 0, SHARED)
        fitting = np.flatnonzero((lengths >= SHARED) & (lengths <= MOST_CHARACTERS))
        order = fitting[np.argsort(heads[fitting], kind="stable")]
        distinct, starts = np.unique(heads[order], return_index=True)
        return cls(
            distinct,
            np.append(starts, len(order)),
            order.astype(np.int32),
            bits_of(*encoded)[order],
            *encoded,
        )


class Matches(NamedTuple):
    """Words of the dictionary that words which were seen match, by row.

    starts: int64 `[n + 1]`, the matches of each row. numbers: int32, which words. closeness:
    float64, their similarities.
    """

    starts: Pointers1d
    numbers: Ints1d
    closeness: Floats1d

    def with_more(
        self, n: int, counts: Pointers1d, numbers: Ints1d, closeness: Floats1d
    ) -> Matches:
        """Those of the first n rows, and of further rows with so many matches each."""
        size = int(self.starts[n])
        return Matches(
            _with(self.starts, n + 1, size + np.cumsum(counts)),
            _with(self.numbers, size, numbers),
            _with(self.closeness, size, closeness),
        )


_NO_MATCHES = Matches(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0))


class SeenTable(NamedTuple):
    """Words that were seen, by row; the arrays may have room for more.

    number: int32 `[n]`, that in the dictionary, -1 for none. characters, character_starts: as the
    alphabet of the dictionary has them. equal: the word itself, if the dictionary has it. close:
    close words, the word itself among them.
    """

    number: Ints1d
    characters: Bytes1d
    character_starts: Pointers1d
    equal: Matches
    close: Matches


class Seen(NamedTuple):
    """Tokens as rows of a table, int32 `[T]`."""

    rows: Ints1d
    table: SeenTable


class SeenWords:
    """A growing table of the words of texts; it may be used by several threads."""

    def __init__(self, dictionary: TermDictionary) -> None:
        texts = list(texts_of(dictionary))
        self._dictionary = dictionary
        self.alphabet = Alphabet.of(texts)
        self.encoded = self.alphabet.encode(texts)
        self._vocabulary = _Vocabulary.of(self.encoded)
        self._forget()

    def _forget(self) -> None:
        self._index = KeyIndex()
        no_numbers, no_characters = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.uint8)
        starts = np.zeros(1, dtype=np.int64)
        self._table = SeenTable(no_numbers, no_characters, starts, _NO_MATCHES, _NO_MATCHES)

    def see(self, words: Keys1d, text_of: Callable[[int], str]) -> Seen:
        """The tokens of a batch; words: uint64 `[T]`, hashes in lower case."""
        with LEXEME_LOCK:
            if len(self._index) > _MOST_SEEN:
                self._forget()
            rows = self._index.lookup(words)
            new = np.unique(words[rows < 0])
            if len(new):
                self._add(new, [text_of(key) for key in new.tolist()])
                rows = self._index.lookup(words)
            return Seen(rows, self._table)

    def see_without_texts(self, words: Keys1d) -> Seen:
        """The same where nobody knows the texts: no other word is close, and no characters."""
        distinct, rows = np.unique(words, return_inverse=True)
        numbers = self._dictionary.index.lookup(distinct)
        no_characters = np.zeros(0, dtype=np.uint8), np.zeros(len(distinct) + 1, dtype=np.int64)
        equal = _NO_MATCHES.with_more(0, *_itself(numbers))
        return Seen(rows.astype(np.int32), SeenTable(numbers, *no_characters, equal, equal))

    def _add(self, keys: Keys1d, texts: list[str]) -> None:
        encoded = self.alphabet.encode(texts)
        numbers = self._dictionary.index.lookup(keys)
        heads = packed(encoded, 0, SHARED)
        place = np.searchsorted(self._vocabulary.heads, heads)
        close = _close_words(self._vocabulary, heads, place, numbers, bits_of(*encoded), *encoded)
        old, n = self._table, len(self._index)
        n_characters = int(old.character_starts[n])
        self._table = SeenTable(
            _with(old.number, n, numbers),
            _with(old.characters, n_characters, encoded.characters),
            _with(old.character_starts, n + 1, n_characters + encoded.starts[1:]),
            old.equal.with_more(n, *_itself(numbers)),
            old.close.with_more(n, *close),
        )
        self._index.add(keys)


def _itself(numbers: Ints1d) -> tuple[Pointers1d, Ints1d, Floats1d]:
    """Number of matches of each word, the matches, and their similarities; -1 matches none."""
    known = numbers[numbers >= 0]
    return (numbers >= 0).astype(np.int64), known, np.ones(len(known))


def _with(array: Array, size: int, more: Array) -> Array:
    """The first values of an array and more behind them, with room for others.

    Nothing before `size` is changed, so that another thread can go on reading.
    """
    if size + len(more) > len(array):
        array = grown(array, max(2 * len(array), size + len(more)))
    array[size : size + len(more)] = more
    return array


@inlined
def _n_bits(x):  # type: ignore[no-untyped-def]
    x = x - ((x >> np.uint64(1)) & _FIFTHS)
    x = (x & _THIRDS) + ((x >> np.uint64(2)) & _THIRDS)
    x = (x + (x >> np.uint64(4))) & _NIBBLES
    return np.int64((x * _BYTES) >> np.uint64(56))


@inlined
def _can_be_close(n, m, sign, other):  # type: ignore[no-untyped-def]
    """Whether two words of n and m characters may be close, by the characters that they have."""
    if most_similar(n, m) < CLOSE:
        return False
    common = min(n - _n_bits(sign & ~other), m - _n_bits(other & ~sign))
    jaro = (common / n + common / m + 1) / 3
    return jaro + 0.4 * (1 - jaro) >= CLOSE - 1e-9


@helper
def _enter(close, closeness, n, number, similarity):  # type: ignore[no-untyped-def]
    """Put a close word into its place, the most similar ones first; returns how many there are."""
    k = n
    while k > 0 and closeness[k - 1] < similarity:
        k -= 1
    if k == MOST_CLOSE:
        return n
    n = min(n + 1, MOST_CLOSE)
    for i in range(n - 1, k, -1):
        close[i], closeness[i] = close[i - 1], closeness[i - 1]
    close[k], closeness[k] = number, similarity
    return n


@kernel
def _close_words(  # type: ignore[no-untyped-def]
    vocabulary: _Vocabulary,
    heads: Keys1d,
    places: Pointers1d,
    numbers: Ints1d,
    signs: Keys1d,
    characters: Bytes1d,
    starts: Pointers1d,
):
    """Close words of each word: how many, which ones, and how similar they are."""
    counts = np.zeros(len(places), dtype=np.int64)
    all_close = np.empty(len(places) * MOST_CLOSE, dtype=np.int32)
    all_closeness = np.empty(len(places) * MOST_CLOSE)
    total = 0
    for w in range(len(places)):
        close, closeness = all_close[total:], all_closeness[total:]
        n = 0
        if numbers[w] >= 0:
            n = _enter(close, closeness, n, numbers[w], 1.0)
        length, place = starts[w + 1] - starts[w], places[w]
        is_there = place < len(vocabulary.heads) and vocabulary.heads[place] == heads[w]
        if is_there and SHARED <= length <= MOST_CHARACTERS:
            word = characters[starts[w] : starts[w + 1]]
            for k in range(vocabulary.starts[place], vocabulary.starts[place + 1]):
                other = vocabulary.numbers[k]
                begin, end = (
                    vocabulary.character_starts[other],
                    vocabulary.character_starts[other + 1],
                )
                if other == numbers[w]:
                    continue
                if not _can_be_close(length, end - begin, signs[w], vocabulary.signs[k]):
                    continue
                similarity = jaro_winkler(word, vocabulary.characters[begin:end])
                if similarity >= CLOSE - 1e-9:
                    n = _enter(close, closeness, n, other, similarity)
        counts[w] = n
        total += n
    return counts, all_close[:total].copy(), all_closeness[:total].copy()
