"""How often 64-bit keys occur, counted exactly in bounded memory.

What does not fit into memory goes to a temporary file, which is read back one range of keys after
the other: external distribution (Knuth 1998, The Art of Computer Programming, volume 3, section
5.4.7).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO

import numpy as np

from ..files import temporary_files
from ..types import Floats1d, Keys1d, Pointers1d
from .index import add_up, frequent_first

MEMORY = 1 << 28
"""Bytes that counting takes, for any number of keys."""
_BYTES = 64
"""Of an entry while entries are added up: key and count, their sums, and places in a table."""
_RANGE_BITS = 10


class KeyCounts:
    """Counts of keys.

    Entries are gathered until they fill the memory, and added up. Where that does not free half of
    it, they go to a file, as a run that is sorted by range of keys. In the end the same range of
    all runs is added up, one range after the other. Keys are hashes, so each range has about as
    many of them.

    memory: bytes for entries. The file is removed with the object, or when the process ends.
    """

    def __init__(self, memory: int = MEMORY) -> None:
        self._most = max(2, memory // _BYTES)
        self._gathered: list[tuple[Keys1d, Floats1d]] = []
        self._size = 0
        self._file: IO[bytes] | None = None
        self._runs: list[_Run] = []

    def add(self, keys: Keys1d, counts: Floats1d | None = None) -> None:
        """Count further keys, of which 0 is "no value".

        counts: occurrences that each entry of `keys` stands for; None for one each. Raises
        `SavingError` where the disk has no room for what does not fit into memory.
        """
        keys = keys.reshape(-1)
        for begin in range(0, len(keys), self._most // 2):
            part = slice(begin, begin + self._most // 2)
            is_key = keys[part] != 0
            of_part = np.ones(is_key.sum()) if counts is None else counts[part][is_key]
            if self._size + len(of_part) > self._most:
                self._make_room()
            self._gather(keys[part][is_key], of_part)

    def frequent(self, minimum: int) -> Keys1d:
        """The distinct keys that occur at least `minimum` times, as `index.frequent_keys`."""
        keys, sums = [np.zeros(0, dtype=np.uint64)], [np.zeros(0)]
        for distinct, occurrences in self._added_up():
            wanted = occurrences >= minimum
            keys.append(distinct[wanted])
            sums.append(occurrences[wanted])
        return frequent_first(np.concatenate(keys), np.concatenate(sums))

    def _gather(self, keys: Keys1d, counts: Floats1d) -> None:
        self._gathered.append((keys, counts))
        self._size += len(keys)

    def _take(self) -> tuple[Keys1d, Floats1d]:
        """What was gathered, added up."""
        keys, counts = _joined(self._gathered)
        self._gathered, self._size = [], 0
        return add_up(keys, counts)

    def _make_room(self) -> None:
        keys, sums = self._take()
        if len(keys) > self._most // 2:
            self._write(keys, sums)
        else:
            self._gather(keys.copy(), sums.copy())

    def _write(self, keys: Keys1d, sums: Floats1d) -> None:
        of_range = (keys >> np.uint64(64 - _RANGE_BITS)).astype(np.uint16)
        order = np.argsort(of_range, kind="stable")
        starts = np.append(0, np.cumsum(np.bincount(of_range, minlength=1 << _RANGE_BITS)))
        with temporary_files():
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the object
            self._runs.append(_Run(self._file, starts))
            self._file.write(keys[order].data)
            self._file.write(sums[order].data)
            self._file.flush()

    def _added_up(self) -> Iterator[tuple[Keys1d, Floats1d]]:
        """The distinct keys with their counts, range by range."""
        if not self._runs:
            keys, sums = self._take()
            self._gather(keys, sums)
            yield keys, sums
            return
        self._write(*self._take())
        for number in range(1 << _RANGE_BITS):
            yield add_up(*_joined([run.read(number) for run in self._runs]))


class _Run:
    """Entries at the end of a file, to be written there; starts: int64 `[R + 1]`, of ranges."""

    def __init__(self, file: IO[bytes], starts: Pointers1d) -> None:
        self._file, self._starts = file, starts
        self._begin = file.seek(0, 2)

    def read(self, number: int) -> tuple[Keys1d, Floats1d]:
        """The entries of a range."""
        begin, end = self._starts[number : number + 2].tolist()
        n_bytes, total = 8 * (end - begin), int(self._starts[-1])
        self._file.seek(self._begin + 8 * begin)
        keys = np.frombuffer(self._file.read(n_bytes), dtype=np.uint64)
        self._file.seek(self._begin + 8 * (total + begin))
        return keys, np.frombuffer(self._file.read(n_bytes))


def _joined(entries: list[tuple[Keys1d, Floats1d]]) -> tuple[Keys1d, Floats1d]:
    nothing = np.zeros(0, dtype=np.uint64), np.zeros(0)
    keys, counts = zip(nothing, *entries, strict=True)
    return np.concatenate(keys), np.concatenate(counts)
