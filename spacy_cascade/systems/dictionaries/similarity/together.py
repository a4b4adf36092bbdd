"""Which words stand together in a term: what most spans can be passed over by.

A span can be similar to a term only if enough of its words stand in it, and so each of them stands
in some term with enough of the others. Pairs are kept in a filter (`numeric.key_filter`).
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from ....jit import helper, inlined, kernel
from ....numeric.hashing import mix
from ....numeric.key_filter import KeyFilter, empty_filter, let_through, may_have
from ....types import Ints1d, Keys1d, Pointers1d
from .dictionary import MOST_TOKENS, TermDictionary

_ONE = np.uint64(1)


def pairs_of(dictionary: TermDictionary) -> KeyFilter:
    """The pairs of a dictionary, which all measures over it share."""
    if dictionary not in _PAIRS:
        sizes = np.diff(dictionary.sets.indptr)
        pairs = empty_filter(int((sizes * (sizes - 1) // 2).sum()))
        _fill(pairs, dictionary.sets.indptr, dictionary.sets.indices)
        _PAIRS[dictionary] = pairs
    return _PAIRS[dictionary]


_PAIRS: WeakKeyDictionary[TermDictionary, KeyFilter] = WeakKeyDictionary()


@inlined
def _pair(low, high):  # type: ignore[no-untyped-def]
    """The key of two words."""
    return mix(np.uint64(low) << np.uint64(32), np.uint64(high))


@kernel
def _fill(pairs: KeyFilter, starts: Pointers1d, sets: Ints1d) -> None:
    for term in range(len(starts) - 1):
        for i in range(starts[term], starts[term + 1]):
            for j in range(i + 1, starts[term + 1]):
                let_through(pairs, _pair(sets[i], sets[j]))


@helper
def _may_match(pairs, starts, numbers, one, other):  # type: ignore[no-untyped-def]
    """Whether two rows may match different words of one term."""
    for i in range(starts[one], starts[one + 1]):
        for j in range(starts[other], starts[other + 1]):
            low, high = min(numbers[i], numbers[j]), max(numbers[i], numbers[j])
            if 0 <= low < high and may_have(pairs, _pair(low, high)):
                return True
    return False


@kernel
def tokens_together(
    pairs: KeyFilter, rows: Ints1d, starts: Pointers1d, numbers: Ints1d, longest: int
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
