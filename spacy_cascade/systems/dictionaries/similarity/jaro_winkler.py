"""The Jaro-Winkler similarity of strings of at most 64 characters.

    j = (m / |a| + m / |b| + (m - t) / m) / 3        s = j + 0.1 l (1 - j) if j > 0.7, else j

m: characters in common that stand near each other, t: half of those in another order, l: length of
the common beginning, at most 4 (Winkler 1990, "String comparator metrics and enhanced decision
rules in the Fellegi-Sunter model of record linkage").
"""

from __future__ import annotations

import numpy as np

from ....jit import helper

MOST_CHARACTERS = 64
"""Longer strings have no similarity."""
_ONE = np.uint64(1)


@helper
def jaro_winkler(a, b):  # type: ignore[no-untyped-def]
    """Of two arrays of characters, uint8, of 1 to 64 each."""
    n, m = len(a), len(b)
    window = max(0, max(n, m) // 2 - 1)
    in_a = in_b = np.uint64(0)
    common = 0
    for i in range(n):
        for k in range(max(0, i - window), min(m, i + window + 1)):
            bit = _ONE << np.uint64(k)
            if a[i] == b[k] and not in_b & bit:
                in_b |= bit
                in_a |= _ONE << np.uint64(i)
                common += 1
                break
    if common == 0:
        return 0.0
    moved, k = 0, 0
    for i in range(n):
        if in_a & (_ONE << np.uint64(i)):
            while not in_b & (_ONE << np.uint64(k)):
                k += 1
            moved += a[i] != b[k]
            k += 1
    jaro = (common / n + common / m + (common - moved // 2) / common) / 3
    if jaro <= 0.7:
        return jaro
    prefix = 0
    while prefix < min(n, m, 4) and a[prefix] == b[prefix]:
        prefix += 1
    return jaro + 0.1 * prefix * (1 - jaro)


@helper
def most_similar(n, m):  # type: ignore[no-untyped-def]
    """The largest similarity that strings of n and m characters can have."""
    jaro = (min(n, m) / n + min(n, m) / m + 1) / 3
    return jaro + 0.4 * (1 - jaro)
