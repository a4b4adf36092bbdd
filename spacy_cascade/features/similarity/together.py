"""Which words stand together in a term: what most spans can be passed over by.

A span can be similar to a term only if enough of its words stand in it, and so each of them stands
in some term with enough of the others. Pairs are kept as single bits: a pair that is found may be
in no term, a pair that is not found is in none (Bloom 1970).
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ...jit import helper, inlined, kernel
from ...numeric.hashing import HashFunction, draw_hash, home, mix
from ...types import Ints1d, Keys1d, Pointers1d
from .dictionary import MOST_TOKENS, TermDictionary, WordSets

_PLACES_A_PAIR = 12
_BITS = np.int64(63)
_ONE = np.uint64(1)


class WordPairs(NamedTuple):
    """Pairs of words of terms; bits: uint64, a bit for each place that `hashed` gives."""

    bits: Keys1d
    hashed: HashFunction

    @classmethod
    def of(cls, sets: WordSets) -> WordPairs:
        sizes = np.diff(sets.indptr)
        n_pairs = int((sizes * (sizes - 1) // 2).sum())
        n_places = 1 << max(_PLACES_A_PAIR * n_pairs, 64).bit_length()
        pairs = cls(np.zeros(n_places // 64, dtype=np.uint64), draw_hash(n_places))
        _mark(pairs, sets.indptr, sets.indices)
        return pairs


def pairs_of(dictionary: TermDictionary) -> WordPairs:
    """The pairs of a dictionary, which all measures over it share."""
    if dictionary not in _PAIRS:
        _PAIRS[dictionary] = WordPairs.of(dictionary.sets)
    return _PAIRS[dictionary]


_PAIRS: WeakKeyDictionary[TermDictionary, WordPairs] = WeakKeyDictionary()


@inlined
def _place(pairs, low, high):  # type: ignore[no-untyped-def]
    key = mix(np.uint64(low) << np.uint64(32), np.uint64(high))
    return home(pairs.hashed, key)


@kernel
def _mark(pairs: WordPairs, starts: Pointers1d, sets: Ints1d) -> None:
    for term in range(len(starts) - 1):
        for i in range(starts[term], starts[term + 1]):
            for j in range(i + 1, starts[term + 1]):
                place = _place(pairs, sets[i], sets[j])
                pairs.bits[place >> 6] |= _ONE << np.uint64(place & _BITS)


@inlined
def _is_pair(pairs, low, high):  # type: ignore[no-untyped-def]
    place = _place(pairs, low, high)
    return (pairs.bits[place >> 6] >> np.uint64(place & _BITS)) & _ONE != 0


@helper
def _may_match(pairs, starts, numbers, one, other):  # type: ignore[no-untyped-def]
    """Whether two rows may match different words of one term."""
    for i in range(starts[one], starts[one + 1]):
        for j in range(starts[other], starts[other + 1]):
            low, high = min(numbers[i], numbers[j]), max(numbers[i], numbers[j])
            if 0 <= low < high and _is_pair(pairs, low, high):
                return True
    return False


@kernel
def tokens_together(
    pairs: WordPairs, rows: Ints1d, starts: Pointers1d, numbers: Ints1d, longest: int
) -> Keys1d:
    """For each token bits for those before it that may stand in one term with it, uint64 `[T]`.

    Bit k is for the token k places before, below `longest`. rows: int32 `[T]`. numbers: those that
    each row may match in the dictionary, from `starts[row]` to `starts[row + 1]`, -1 for none.
    """
    together = np.zeros(len(rows), dtype=np.uint64)
    for t in range(len(rows)):
        for distance in range(1, min(longest, MOST_TOKENS, t + 1)):
            if _may_match(pairs, starts, numbers, rows[t], rows[t - distance]):
                together[t] |= _ONE << np.uint64(distance)
    return together


@inlined
def are_together(together, late, early):  # type: ignore[no-untyped-def]
    """Whether a token and one before it in the same span may stand in one term."""
    return (together[late] >> np.uint64(late - early)) & _ONE != 0
