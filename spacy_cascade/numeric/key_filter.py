"""Filters of keys: bits that say of most keys that they are not in a set (Bloom 1970).

A filter is much smaller than a table of the keys, so that it stays in the processor's cache. Who is
let through may still be unknown.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import inlined
from ..types import Keys1d
from .hashing import HashFunction, draw_hash, home

_PLACES_A_KEY = 16
_BITS = np.int64(63)
_ONE = np.uint64(1)


class KeyFilter(NamedTuple):
    """One bit for each of many places, set where some key belongs; bits: uint64 `[2^n]`.

    With 16 places a key, it knows 94 % of the keys that are not in the set.
    """

    bits: Keys1d
    hashed: HashFunction


def empty_filter(n_keys: int) -> KeyFilter:
    """A filter for so many keys, without any."""
    n_places = 1 << max(_PLACES_A_KEY * n_keys, 32).bit_length()
    return KeyFilter(np.zeros(n_places // 64, dtype=np.uint64), draw_hash(n_places))


@inlined
def let_through(known, key):  # type: ignore[no-untyped-def]
    """Add a key."""
    place = home(known.hashed, key)
    known.bits[place >> 6] |= _ONE << np.uint64(place & _BITS)


@inlined
def may_have(known, key):  # type: ignore[no-untyped-def]
    """Whether a key can be one of those that were added."""
    place = home(known.hashed, key)
    return (known.bits[place >> 6] >> np.uint64(place & _BITS)) & _ONE != 0
