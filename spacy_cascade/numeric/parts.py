"""Products of a transposed matrix as sums over parts of its rows, which workers can share.

The parts are added up in their order, so it does not matter who computes which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from ..parallel import Workers, split
from ..types import Floats2d, Floats3d, Ints1d, Pointers1d
from .csr import add_to_columns

AddPart: TypeAlias = Callable[[int, Floats2d], None]
"""Adds the part of a number to an array `[n, W]`; parts are added up in their order."""
_AT_ONCE = 4
"""Parts that are made side by side: more need more memory."""


def add_part(
    indptr: Pointers1d, indices: Ints1d, part: int, n_parts: int, values: Floats2d, out: Floats2d
) -> None:
    """`out += self.T @ values` for one of the parts that the rows of a matrix are divided into."""
    pieces = split(indptr)
    first, last = (len(pieces) * i // n_parts for i in (part, part + 1))
    for begin, end in pieces[first:last]:
        add_to_columns(indptr, indices, values, out, begin, end)


def part_bounds(indptr: Pointers1d, n_parts: int) -> Pointers1d:
    """First row of each part, and the end, int64 `[P + 1]`."""
    pieces = split(indptr)
    bounds = [*(begin for begin, _ in pieces), len(indptr) - 1]
    places = [len(pieces) * i // n_parts for i in range(n_parts + 1)]
    return np.array([bounds[place] for place in places], dtype=np.int64)


class Memory:
    """Where parts are summed up; it is kept, because new memory is slow."""

    def __init__(self) -> None:
        self._floats = np.empty(0)

    def add_up(
        self, addends: Sequence[AddPart], n_parts: int, out: Floats2d, workers: Workers
    ) -> None:
        """Write the sum over all parts, in their order, whatever the threads.

        addends: what is added to each part, one after the other. Some parts are made side by side.
        """
        for first in range(0, n_parts, _AT_ONCE):
            sums = self._sums(min(_AT_ONCE, n_parts - first), out.shape)

            def make(begin: int, end: int, first: int = first, sums: Floats3d = sums) -> None:
                for i in range(begin, end):
                    sums[i].fill(0.0)
                    for add in addends:
                        add(first + i, sums[i])

            workers.map(make, [(i, i + 1) for i in range(len(sums))])
            _add_up(sums, out, first > 0, workers)

    def _sums(self, n: int, shape: tuple[int, ...]) -> Floats3d:
        size = n * shape[0] * shape[1]
        if len(self._floats) < size:
            self._floats = np.empty(size)
        sums: Floats3d = self._floats[:size].reshape(n, *shape)
        return sums


def _add_up(sums: Floats3d, out: Floats2d, is_begun: bool, workers: Workers) -> None:
    """Write the sum over the first axis to `out`, or add it, one after the other."""
    n_parts, n_rows, width = sums.shape

    def piece(begin: int, end: int) -> None:
        rows = slice(begin, end)
        if not is_begun:
            np.sum(sums[:, rows], axis=0, out=out[rows])
            return
        for part in sums:
            out[rows] += part[rows]

    entries = n_parts * width
    workers.map(piece, split(range(0, (n_rows + 1) * entries, entries)))
