"""Binary sparse matrices, and sums of rows, as scores and gradients are.

Scores are such a matrix times weights, gradients its transpose times expectations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..jit import inlined, kernel
from ..lanes import filled, load, plus, store, times
from ..parallel import PIECES, Workers, split
from ..types import Bools1d, Floats1d, Floats2d, Ints1d, Pointers1d, Pointers2d, RealsXd


@inlined
def _second(k, right, n):  # type: ignore[no-untyped-def]
    """Where the second of two times `n` columns begins, from `k` to `right` at most.

    Both may have some of the columns.
    """
    return k + n if right - k >= 2 * n else right - n


@inlined
def _sum_rows(indices, first, last, values, out, i, k, n):  # type: ignore[no-untyped-def]
    """`out[i] += values[indices[j]]` for `first <= j < last`, in up to `2n` columns from `k` on."""
    second = _second(k, out.shape[1], n)
    a, b = load(out, (i, k), n), load(out, (i, second), n)
    for j in range(first, last):
        a = plus(a, load(values, (indices[j], k), n))
        b = plus(b, load(values, (indices[j], second), n))
    store(out, (i, k), a)
    store(out, (i, second), b)
    return second + n


@kernel
def add_rows(
    indptr: Pointers1d, indices: Ints1d, values: RealsXd, out: Floats2d, begin: int, end: int
) -> None:
    """`out[i] += Σ_j values[indices[j]]`, `j` in row `i`, for rows `begin <= i < end`.

    `values` `[n_columns, W]`, `out` `[n_rows, W]`; only `out[begin:end]` is written, so
    calls on separate ranges may run at the same time and give the same bits as one call.
    """
    width = out.shape[1]
    for i in range(begin, end):
        first, last, k = indptr[i], indptr[i + 1], 0
        while width - k >= 8:
            k = _sum_rows(indices, first, last, values, out, i, k, 8)
        if width - k >= 4:
            k = _sum_rows(indices, first, last, values, out, i, k, 4)
        for rest in range(k, width):
            for j in range(first, last):
                out[i, rest] += values[indices[j], rest]


@inlined
def _add_row(indices, first, last, values, i, out, k, right, n):  # type: ignore[no-untyped-def]
    """`out[indices[j]] += values[i]` for `first <= j < last`, in up to `2n` columns from `k` on."""
    second = _second(k, right, n)
    a, b = load(values, (i, k), n), load(values, (i, second), n)
    for j in range(first, last):
        # Both are read before one is written, for they may have columns in common.
        c = plus(load(out, (indices[j], k), n), a)
        d = plus(load(out, (indices[j], second), n), b)
        store(out, (indices[j], k), c)
        store(out, (indices[j], second), d)
    return second + n


@kernel
def add_to_columns(
    indptr: Pointers1d,
    indices: Ints1d,
    values: Floats2d,
    out: Floats2d,
    rows: tuple[int, int],
    columns: tuple[int, int],
) -> None:
    """`out[indices[j]] += values[i]`, `j` in row `i`, for a range of rows and of columns of values.

    The product of the transposed matrix with `values` `[n_rows, W]`, added to `out`
    `[n_columns, W]`. Any row of `out` may be written.
    """
    left, right = columns
    for i in range(rows[0], rows[1]):
        first, last, k = indptr[i], indptr[i + 1], left
        while right - k >= 8:
            k = _add_row(indices, first, last, values, i, out, k, right, 8)
        if right - k >= 4:
            k = _add_row(indices, first, last, values, i, out, k, right, 4)
        for rest in range(k, right):
            for j in range(first, last):
                out[indices[j], rest] += values[i, rest]


@kernel
def scale_and_mix(
    values: Floats2d,
    scale: Floats1d,
    mixing: Floats2d,
    blocks: Pointers2d,
    out: Floats2d,
    begin: int,
    end: int,
) -> None:
    """`out[i] = scale[i] · (values[i] @ mixing)` for rows `begin <= i < end`.

    values, out `[n, S]`, which may be one array; scale `[n]`; mixing `[S, S]`; blocks `[S, 2]`:
    column `k` of mixing is zero but for the rows from `blocks[k, 0]` up to `blocks[k, 1]`.
    """
    width = values.shape[1]
    row = np.empty(width)
    n = (width + 7) // 8 if width >= 8 else 0
    columns, first, last = np.empty((3, n), dtype=np.int64)
    for group in range(n):
        # Of eight columns side by side; the last ones may be among those before, too.
        columns[group] = min(8 * group, width - 8)
        first[group], last[group] = width, 0
        for k in range(columns[group], columns[group] + 8):
            first[group] = min(first[group], blocks[k, 0])
            last[group] = max(last[group], blocks[k, 1])
    for i in range(begin, end):
        for k in range(width):
            row[k] = scale[i] * values[i, k]
        for group in range(n):
            k, sums = columns[group], filled(0.0, 8)
            for j in range(first[group], last[group]):
                sums = plus(sums, times(filled(row[j], 8), load(mixing, (j, k), 8)))
            store(out, (i, k), sums)
        for k in range(width if n == 0 else 0):
            total = 0.0
            for j in range(blocks[k, 0], blocks[k, 1]):
                total += row[j] * mixing[j, k]
            out[i, k] = total


@kernel
def active_features(
    lexeme_indptr: Pointers1d,
    lexeme_indices: Ints1d,
    unit_lexeme_indptr: Pointers1d,
    unit_lexeme_indices: Ints1d,
    unit_indptr: Pointers1d,
    unit_indices: Ints1d,
) -> tuple[Pointers1d, Ints1d]:
    """Features of each unit of a lexeme-level design matrix (`numeric.design`), `L A + D`.

    lexeme_indptr, lexeme_indices: `A`. unit_lexeme_indptr, unit_lexeme_indices: `L`.
    unit_indptr, unit_indices: `D`. Returns `indptr` `[U + 1]` and the features: those of unit
    `u` stand at `indptr[u]:indptr[u + 1]`, more than once where both `A` and `D` have them.
    """
    n_units = len(unit_indptr) - 1
    indptr = np.empty(n_units + 1, dtype=np.int64)
    indptr[0] = 0
    for unit in range(n_units):
        size = indptr[unit] + unit_indptr[unit + 1] - unit_indptr[unit]
        for i in range(unit_lexeme_indptr[unit], unit_lexeme_indptr[unit + 1]):
            row = unit_lexeme_indices[i]
            size += lexeme_indptr[row + 1] - lexeme_indptr[row]
        indptr[unit + 1] = size
    features = np.empty(indptr[n_units], dtype=np.int32)
    for unit in range(n_units):
        place = indptr[unit]
        for i in range(unit_lexeme_indptr[unit], unit_lexeme_indptr[unit + 1]):
            row = unit_lexeme_indices[i]
            for j in range(lexeme_indptr[row], lexeme_indptr[row + 1]):
                features[place] = lexeme_indices[j]
                place += 1
        for i in range(unit_indptr[unit], unit_indptr[unit + 1]):
            features[place] = unit_indices[i]
            place += 1
    return indptr, features


@dataclass
class BinaryCSR:
    """A binary sparse matrix `[n_rows, n_columns]`: row `i` is `indices[indptr[i]:indptr[i+1]]`."""

    indptr: Pointers1d
    indices: Ints1d
    n_columns: int

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.indptr) - 1

    def take(self, rows: Ints1d | Pointers1d) -> BinaryCSR:
        """The matrix of some of the rows, in the given order."""
        lengths = np.diff(self.indptr)[rows]
        indptr = np.append(0, np.cumsum(lengths))
        places = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], lengths)
        return BinaryCSR(indptr, self.indices[places], self.n_columns)

    def on_columns(self, columns: Ints1d) -> BinaryCSR:
        """The same matrix without the columns that are not listed, whose entries are all zero.

        columns: ascending.
        """
        if self.n_columns > len(self.indices):
            indices = np.searchsorted(columns, self.indices).astype(np.int32)
        else:
            number = np.zeros(columns.max(initial=self.n_columns) + 1, dtype=np.int32)
            number[columns] = np.arange(len(columns))
            indices = number[self.indices]
        return BinaryCSR(self.indptr, indices, len(columns))

    def without(self, is_dropped: Bools1d) -> BinaryCSR:
        """The same matrix with some entries as zeros; is_dropped: of each entry."""
        kept = ~is_dropped
        before = np.append(0, np.cumsum(kept))
        return BinaryCSR(before[self.indptr], self.indices[kept], self.n_columns)

    def append(self, other: BinaryCSR) -> BinaryCSR:
        """The matrix with the rows of another one after its own."""
        indptr = np.append(self.indptr, self.indptr[-1] + other.indptr[1:])
        return BinaryCSR(indptr, np.append(self.indices, other.indices), self.n_columns)

    def add_product(self, values: RealsXd, out: Floats2d, workers: Workers) -> None:
        """`out += self @ values`, the same bits for any number of threads."""

        def piece(begin: int, end: int) -> None:
            add_rows(self.indptr, self.indices, values, out, begin, end)

        most = 1 if workers.n_threads == 1 else PIECES
        workers.map(piece, split(self.indptr, out.shape[1], most))


_ALONE = 8
"""So many columns of values at least are added up in a thread of their own.

With fewer, each thread would have about as much to do: most time goes to finding the rows.
"""


def add_transposed_products(
    products: Sequence[tuple[BinaryCSR, Floats2d, Floats2d]], workers: Workers
) -> None:
    """`out += matrix.T @ values` for each matrix, values and out, no two of which are one array.

    The same bits for any number of threads, for rows are always added in their order: threads
    divide the matrices and the columns of values among them. Sums of parts of the rows side by
    side, added up at the end, took a quarter longer; reading the transposed matrix takes more than
    twice as long.
    """
    parts = []
    for matrix, values, out in products:
        width = out.shape[1]
        n = max(1, min(workers.n_threads, width // _ALONE))
        cuts = [width * i // n for i in range(n + 1)]
        parts += [(matrix, values, out, columns) for columns in pairwise(cuts)]

    def part(first: int, last: int) -> None:
        for matrix, values, out, columns in parts[first:last]:
            for rows in split(matrix.indptr, out.shape[1], 1):
                add_to_columns(matrix.indptr, matrix.indices, values, out, rows, columns)

    workers.map(part, [(i, i + 1) for i in range(len(parts))])


def used_columns(*matrices: BinaryCSR) -> Ints1d:
    """The columns that are not zero in all of these matrices, int32, ascending."""
    n_columns = matrices[0].n_columns
    if n_columns > sum(len(matrix.indices) for matrix in matrices):
        return np.unique(np.concatenate([matrix.indices for matrix in matrices]))
    is_used = np.zeros(n_columns, dtype=np.bool_)
    for matrix in matrices:
        is_used[matrix.indices] = True
    return np.flatnonzero(is_used).astype(np.int32)
