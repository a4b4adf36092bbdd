"""64-bit keys and an open-addressing table of them, for kernels.

A key is a mix of a template's salt and the hashes of its values; the key zero means
"no value". The table compares full keys, so two features are one only if their 64-bit
keys are equal.
"""

from __future__ import annotations

import numpy as np

from ..jit import inlined

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


@inlined
def home(key, mask):  # type: ignore[no-untyped-def]
    """Where a search for `key` begins in a table of `mask + 1` places, a power of two."""
    return np.int64((key * _GOLDEN) >> _HALF) & mask


@inlined
def probe(table, keys, key):  # type: ignore[no-untyped-def]
    """Place of `key` in the table, or of the empty place where it belongs."""
    mask = len(table) - 1
    place = home(key, mask)
    while table[place] >= 0 and keys[table[place]] != key:
        place = (place + 1) & mask
    return place
