"""64-bit keys and an open-addressing table of them, for kernels.

A key is a mix of a template's salt and the hashes of its values; the key zero means
"no value". The table compares full keys, so two features are one only if their 64-bit
keys are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import config, njit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_ONE = np.uint64(1)


def _inline(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile into the kernels that call it.

    Without the compiler NumPy would warn where a product wraps around, as all here may.
    """
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return np.errstate(over="ignore")(function)
    return njit(nogil=True, cache=True, inline="always")(function)


@_inline
def mix(state, value):  # type: ignore[no-untyped-def]
    """One key from two, never zero: multiply and fold (Knuth 1997, section 6.4).

    Both are well mixed already, hashes of texts or earlier keys, so one round is enough.
    """
    x = (state ^ value) * _GOLDEN
    return (x ^ (x >> _HALF)) | _ONE


@_inline
def probe(table, keys, key):  # type: ignore[no-untyped-def]
    """Place of `key` in the table, or of the empty place where it belongs."""
    mask = len(table) - 1
    place = np.int64((key * _GOLDEN) >> _HALF) & mask
    while table[place] >= 0 and keys[table[place]] != key:
        place = (place + 1) & mask
    return place
