"""Sets of rows that have features: inverted binary matrices, and their intersections.

A posting list is a row of a transposed matrix: the units that have a feature, in ascending order
and without repeats. A conjunction holds in the intersection of the lists of its parts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...jit import kernel
from ...numeric.design import BinaryCSR
from ...types import Ints1d, Pointers1d


@kernel
def _transposed(indptr: Pointers1d, indices: Ints1d, n_columns: int) -> tuple[Pointers1d, Ints1d]:
    """Rows of the transposed matrix; an entry that a row repeats is there once."""
    latest = np.full(n_columns, -1, dtype=np.int64)
    starts = np.zeros(n_columns + 1, dtype=np.int64)
    for row in range(len(indptr) - 1):
        for i in range(indptr[row], indptr[row + 1]):
            if latest[indices[i]] != row:
                latest[indices[i]] = row
                starts[indices[i] + 1] += 1
    starts = np.cumsum(starts)
    places, rows = starts[:-1].copy(), np.empty(starts[-1], dtype=np.int32)
    latest[:] = -1
    for row in range(len(indptr) - 1):
        for i in range(indptr[row], indptr[row + 1]):
            column = indices[i]
            if latest[column] != row:
                latest[column] = row
                rows[places[column]] = row
                places[column] += 1
    return starts, rows


def transposed(matrix: BinaryCSR) -> BinaryCSR:
    """The rows `[n_columns, n_rows]` in ascending order; what a row repeats counts once."""
    indptr, indices = _transposed(matrix.indptr, matrix.indices, matrix.n_columns)
    return BinaryCSR(indptr, indices, matrix.n_rows)


@kernel
def _intersections(
    indptr: Pointers1d, indices: Ints1d, parts_indptr: Pointers1d, parts: Ints1d
) -> tuple[Pointers1d, Ints1d]:
    """`rows(c) = ∩_{p in parts(c)} rows(p)`, by binary search from the shortest list."""
    n = len(parts_indptr) - 1
    starts, size = np.zeros(n + 1, dtype=np.int64), 0
    found = np.empty(1024, dtype=np.int32)
    for c in range(n):
        shortest, least = -1, np.int64(0)
        for i in range(parts_indptr[c], parts_indptr[c + 1]):
            length = indptr[parts[i] + 1] - indptr[parts[i]]
            if shortest < 0 or length < least:
                shortest, least = i, length
        if shortest >= 0:
            if size + least > len(found):
                grown = np.empty(2 * (size + least), dtype=np.int32)
                for k in range(size):  # A slice takes 3 s to compile.
                    grown[k] = found[k]
                found = grown
            for k in range(indptr[parts[shortest]], indptr[parts[shortest] + 1]):
                row, is_in_all = indices[k], True
                for i in range(parts_indptr[c], parts_indptr[c + 1]):
                    if i != shortest:
                        begin, end = indptr[parts[i]], indptr[parts[i] + 1]
                        place = begin + np.searchsorted(indices[begin:end], row)
                        if place == end or indices[place] != row:
                            is_in_all = False
                            break
                if is_in_all:
                    found[size] = row
                    size += 1
        starts[c + 1] = size
    return starts, found[:size].copy()


def intersections(postings: BinaryCSR, parts: BinaryCSR) -> BinaryCSR:
    """The posting lists of conjunctions; parts `[C, n]`: the lists that each one intersects."""
    indptr, indices = _intersections(postings.indptr, postings.indices, parts.indptr, parts.indices)
    return BinaryCSR(indptr, indices, postings.n_columns)


def stacked(lists: Sequence[Sequence[int]], n_columns: int) -> BinaryCSR:
    """A matrix from the columns of each row."""
    indptr = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    flat = [column for columns in lists for column in columns]
    return BinaryCSR(indptr, np.array(flat, dtype=np.int32), n_columns)
