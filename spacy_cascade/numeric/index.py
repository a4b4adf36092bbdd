"""Feature keys and their ids: an open-addressing table with full-key comparison."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..jit import helper, kernel
from ..types import Floats1d, Ints1d, Keys1d
from .arrays import grown
from .hashing import HashTable, distance, draw_hash, probe
from .key_filter import KeyFilter, empty_filter, let_through

_REPEATED = -1


@helper
def _insert(table, begin, end, steps):  # type: ignore[no-untyped-def]
    """Enter ids `begin <= i < end`, unless the table gets crowded (`hashing.distance`).

    Returns the steps to all keys, given those to earlier ones; `_REPEATED` when a key is there
    already.
    """
    n_places = len(table.places)
    for i in range(begin, end):
        place = probe(table, table.keys[i])
        if table.places[place] >= 0:
            return _REPEATED
        table.places[place] = i
        steps += distance(table.hashed, table.keys[i], place, n_places)
        if steps > n_places:
            break
    return steps


@helper
def _lookup(table, queries, ids):  # type: ignore[no-untyped-def]
    for i in range(len(queries)):
        ids[i] = table.places[probe(table, queries[i])] if queries[i] != 0 else -1


@kernel
def _fill_filter(keys: Keys1d, known: KeyFilter) -> None:
    for i in range(len(keys)):
        let_through(known, keys[i])


def _empty_table(keys: Keys1d, n_places: int) -> HashTable:
    return HashTable(np.full(n_places, -1, dtype=np.int32), keys, draw_hash(n_places))


class KeyIndex:
    """Ids `0 … n-1` of distinct 64-bit keys, as they were added; 0 is "no value", never found."""

    def __init__(self, keys: Keys1d | None = None) -> None:
        self._table = _empty_table(np.zeros(16, dtype=np.uint64), 32)
        self._size, self._steps = 0, 0
        self._filter: KeyFilter | None = None
        if keys is not None:
            self.add(keys)

    def __reduce__(self) -> tuple[type[KeyIndex], tuple[Keys1d]]:
        return KeyIndex, (self.keys,)

    def __len__(self) -> int:
        return self._size

    @property
    def keys(self) -> Keys1d:
        """The keys by id, uint64 `[n]`."""
        return self._table.keys[: self._size]

    def add(self, keys: Keys1d) -> None:
        """Add keys that are not there yet. Raises `ValueError` on a repeated key."""
        size = self._size + len(keys)
        is_full = size > len(self._table.keys)
        if is_full:
            capacity = 1 << (size - 1).bit_length()
            self._table = _empty_table(grown(self.keys, capacity), 2 * capacity)
        self._table.keys[self._size : size] = keys
        begin, steps = (0, 0) if is_full else (self._size, self._steps)
        while (steps := _insert(self._table, begin, size, steps)) > len(self._table.places):
            self._table = _empty_table(self._table.keys, len(self._table.places))
            begin, steps = 0, 0
        if steps == _REPEATED:
            raise ValueError("A key was added twice.")
        self._size, self._steps, self._filter = size, steps, None

    def lookup(self, queries: Keys1d) -> Ints1d:
        """The ids of the queries, int32 of the same shape; -1 where unknown."""
        ids = np.empty(queries.size, dtype=np.int32)
        _lookup(self._table, queries.reshape(-1), ids)
        return ids.reshape(queries.shape)

    def filter(self) -> KeyFilter:
        """A filter of the keys, made once."""
        known = self._filter
        if known is None:
            known = empty_filter(self._size)
            _fill_filter(self.keys, known)
            self._filter = known  # when it is full, for other threads may look
        return known

    def apply(self, kernel: Callable[..., Any], *arguments: object) -> Any:
        """Call `kernel(table, *arguments)` with the table for `hashing.probe`."""
        return kernel(self._table, *arguments)


@helper
def _count(keys, counts, table, sums):  # type: ignore[no-untyped-def]
    """Enter the distinct non-zero keys in the table; how often they occur is written to `sums`.

    counts: as many as keys, or none for one each. table: empty. Returns how many there are, or
    -1 where the table gets crowded (`hashing.distance`).
    """
    n, steps, n_places = 0, 0, len(table.places)
    for i in range(len(keys)):
        if keys[i] == 0:
            continue
        place = probe(table, keys[i])
        if table.places[place] < 0:
            table.places[place] = n
            table.keys[n] = keys[i]
            sums[n] = 0.0
            n += 1
            steps += distance(table.hashed, keys[i], place, n_places)
            if steps > n_places:
                return -1
        sums[table.places[place]] += counts[i] if len(counts) else 1.0
    return n


def add_up(keys: Keys1d, counts: Floats1d | None) -> tuple[Keys1d, Floats1d]:
    """The distinct non-zero keys, and how often each occurs; counts: as in `frequent_keys`."""
    keys = keys.reshape(-1)
    counts = np.zeros(0) if counts is None else counts
    unique, occurrences = np.empty(len(keys), dtype=np.uint64), np.empty(len(keys))
    n = -1
    while n < 0:
        table = _empty_table(unique, 1 << (2 * len(keys) + 1).bit_length())
        n = _count(keys, counts, table, occurrences)
    return unique[:n], occurrences[:n]


def frequent_first(keys: Keys1d, occurrences: Floats1d) -> Keys1d:
    """Distinct keys by how often they occur; equally frequent ones by themselves."""
    return keys[np.lexsort([keys, -occurrences])]


def frequent_keys(keys: Keys1d, counts: Floats1d | None, minimum: int) -> Keys1d:
    """The distinct non-zero keys that occur at least `minimum` times, most frequent first.

    counts: occurrences that each entry of `keys` stands for; None for one each. The order
    brings the rows of frequent features close together in memory.
    """
    unique, occurrences = add_up(keys, counts)
    wanted = occurrences >= minimum
    return frequent_first(unique[wanted], occurrences[wanted])
