"""64-bit keys and an open-addressing table of them, for kernels.

A key is a mix of a template's salt and the hashes of its values; the key zero means "no value". The
table compares full keys, so two features are one only if their 64-bit keys are equal.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple

import numpy as np

from ..jit import inlined
from ..types import Ints1d, Keys1d

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_ONE = np.uint64(1)


@inlined
def mix(state, value):  # type: ignore[no-untyped-def]
    """One key from two, never zero: multiply and fold (Knuth 1997, section 6.4).

    Both are well mixed already, hashes of texts or earlier keys, so one round is enough.
    """
    x = (state ^ value) * _GOLDEN
    return (x ^ (x >> _HALF)) | _ONE


class HashFunction(NamedTuple):
    """Where keys belong in a table of `2^(64 - shift)` places (`home`); factor: odd."""

    factor: np.uint64
    shift: np.uint64


class HashTable(NamedTuple):
    """A table for kernels: places int32 `[2^n]`, numbers of keys or -1; keys uint64."""

    places: Ints1d
    keys: Keys1d
    hashed: HashFunction


def draw_hash(n_places: int) -> HashFunction:
    """A random function for a table of so many places, a power of two, 2 or more.

    Random, because who knows the function can make any number of texts whose keys all belong in
    one place, so that every search goes past all of them (Crosby and Wallach 2003).
    """
    factor = np.uint64(secrets.randbits(64) | 1)
    return HashFunction(factor, shift=np.uint64(65 - n_places.bit_length()))


@inlined
def home(hashed, key):  # type: ignore[no-untyped-def]
    """Where a search for `key` begins: the top bits of a product (Dietzfelbinger et al. 1997)."""
    return np.int64((key * hashed.factor) >> hashed.shift)


@inlined
def distance(hashed, key, place, n_places):  # type: ignore[no-untyped-def]
    """Steps of a search for a key that stands at `place`.

    A table in which these are more than its places, all together, is crowded and needs another
    function: even of random ones a few let keys crowd together that are an arithmetic progression
    (Patrascu and Thorup 2016).
    """
    return (place - home(hashed, key)) & (n_places - 1)


@inlined
def probe(table, key):  # type: ignore[no-untyped-def]
    """Place of `key` in the table, or of the empty place where it belongs."""
    last = len(table.places) - 1
    place = home(table.hashed, key)
    while table.places[place] >= 0 and table.keys[table.places[place]] != key:
        place = (place + 1) & last
    return place
