"""Feature keys and their ids: an open-addressing table with full-key comparison."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..inference.hashing import probe
from ..jit import helper
from ..types import Floats1d, Ints1d, Keys1d


@helper
def _insert(table, keys, begin, end):  # type: ignore[no-untyped-def]
    """Enter ids `begin <= i < end`; False when a key is there already."""
    for i in range(begin, end):
        place = probe(table, keys, keys[i])
        if table[place] >= 0:
            return False
        table[place] = i
    return True


@helper
def _lookup(table, keys, queries, ids):  # type: ignore[no-untyped-def]
    for i in range(len(queries)):
        ids[i] = table[probe(table, keys, queries[i])] if queries[i] != 0 else -1


class KeyIndex:
    """Ids `0 … n-1` for distinct 64-bit keys, in the order in which they were added.

    The key 0 means "no value" and is never found.
    """

    def __init__(self, keys: Keys1d | None = None) -> None:
        self._keys = np.zeros(16, dtype=np.uint64)
        self._table = np.full(32, -1, dtype=np.int32)
        self._size = 0
        if keys is not None:
            self.add(keys)

    def __len__(self) -> int:
        return self._size

    @property
    def keys(self) -> Keys1d:
        """The keys by id, uint64 `[n]`."""
        return self._keys[: self._size]

    def add(self, keys: Keys1d) -> None:
        """Add keys that are not there yet. Raises `ValueError` on a repeated key."""
        size = self._size + len(keys)
        grown = size > len(self._keys)
        if grown:
            capacity = 1 << (size - 1).bit_length()
            self._keys = np.concatenate([self.keys, np.zeros(capacity - self._size, np.uint64)])
            self._table = np.full(2 * capacity, -1, dtype=np.int32)
        self._keys[self._size : size] = keys
        if not _insert(self._table, self._keys, 0 if grown else self._size, size):
            raise ValueError("A key was added twice.")
        self._size = size

    def lookup(self, queries: Keys1d) -> Ints1d:
        """The ids of the queries, int32 of the same shape; -1 where unknown."""
        ids = np.empty(queries.size, dtype=np.int32)
        _lookup(self._table, self._keys, queries.reshape(-1), ids)
        return ids.reshape(queries.shape)

    def apply(self, kernel: Callable[..., Any], *arguments: object) -> Any:
        """Call `kernel(table, keys, *arguments)` with the arrays behind `hashing.probe`."""
        return kernel(self._table, self._keys, *arguments)


@helper
def _count(keys, counts, table, unique, sums):  # type: ignore[no-untyped-def]
    """Distinct non-zero keys, written to `unique`, and how often they occur, to `sums`.

    counts: as many as keys, or none for one each. table: all -1, OVERWRITTEN. Returns how many
    there are.
    """
    n = 0
    for i in range(len(keys)):
        if keys[i] == 0:
            continue
        place = probe(table, unique, keys[i])
        if table[place] < 0:
            table[place] = n
            unique[n] = keys[i]
            sums[n] = 0.0
            n += 1
        sums[table[place]] += counts[i] if len(counts) else 1.0
    return n


def frequent_keys(keys: Keys1d, counts: Floats1d | None, minimum: int) -> Keys1d:
    """The distinct non-zero keys that occur at least `minimum` times, most frequent first.

    counts: occurrences that each entry of `keys` stands for; None for one each. The order
    brings the rows of frequent features close together in memory.
    """
    keys = keys.reshape(-1)
    counts = np.zeros(0) if counts is None else counts
    table = np.full(1 << (2 * len(keys)).bit_length(), -1, dtype=np.int32)
    unique, occurrences = np.empty(len(keys), dtype=np.uint64), np.empty(len(keys))
    n = _count(keys, counts, table, unique, occurrences)
    wanted = np.flatnonzero(occurrences[:n] >= minimum)
    frequent: Keys1d = unique[wanted]
    frequent = frequent[np.lexsort([frequent, -occurrences[wanted]])]
    return frequent
