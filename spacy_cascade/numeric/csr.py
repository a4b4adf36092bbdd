"""Binary sparse matrices, and sums of rows, as scores and gradients are.

Scores are such a matrix times weights, gradients its transpose times expectations.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..jit import kernel
from ..parallel import LARGEST_PIECE, Workers, split
from ..types import Bools1d, Floats1d, Floats2d, Ints1d, Pointers1d, Pointers2d, RealsXd


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
        for j in range(indptr[i], indptr[i + 1]):
            column = indices[j]
            for k in range(width):
                out[i, k] += values[column, k]


@kernel
def add_to_columns(
    indptr: Pointers1d, indices: Ints1d, values: Floats2d, out: Floats2d, begin: int, end: int
) -> None:
    """`out[indices[j]] += values[i]`, `j` in row `i`, for rows `begin <= i < end`.

    The product of the transposed matrix with `values` `[n_rows, W]`, added to `out`
    `[n_columns, W]`. Any row of `out` may be written.
    """
    width = out.shape[1]
    for i in range(begin, end):
        for j in range(indptr[i], indptr[i + 1]):
            column = indices[j]
            for k in range(width):
                out[column, k] += values[i, k]


@kernel
def group_columns(
    indptr: Pointers1d, indices: Ints1d, n_columns: int, n_groups: int
) -> tuple[Ints1d, Ints1d, Pointers1d]:
    """Entries of a binary sparse matrix by groups of columns, in the order of rows within each.

    A group is a range of columns; all have about equally many entries. Returns the row and the
    column of each entry, and `bounds` `[n_groups + 1]`: those of group `g` are
    `bounds[g]:bounds[g + 1]`.
    """
    n = len(indices)
    counts = np.zeros(n_columns, dtype=np.int64)
    for j in range(n):
        counts[indices[j]] += 1
    group_of = np.empty(n_columns, dtype=np.uint8)
    sizes = np.zeros(n_groups, dtype=np.int64)
    before = 0
    for column in range(n_columns):
        group = min(before * n_groups // max(n, 1), n_groups - 1)
        group_of[column] = group
        sizes[group] += counts[column]
        before += counts[column]
    bounds = np.zeros(n_groups + 1, dtype=np.int64)
    for group in range(n_groups):
        bounds[group + 1] = bounds[group] + sizes[group]
    place = bounds[:-1].copy()
    rows, columns = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    for i in range(len(indptr) - 1):
        for j in range(indptr[i], indptr[i + 1]):
            group = group_of[indices[j]]
            rows[place[group]], columns[place[group]] = i, indices[j]
            place[group] += 1
    return rows, columns, bounds


@kernel
def add_entries(
    rows: Ints1d, columns: Ints1d, values: Floats2d, out: Floats2d, begin: int, end: int
) -> None:
    """`out[columns[j]] += values[rows[j]]` for entries `begin <= j < end`.

    The product of the transposed matrix that has these entries with `values` `[n_rows, W]`, added
    to `out` `[n_columns, W]`. Only rows of `out` that are columns of the entries are written.
    """
    width = out.shape[1]
    for j in range(begin, end):
        row, column = rows[j], columns[j]
        for k in range(width):
            out[column, k] += values[row, k]


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
    row `j` of mixing is zero but for the columns from `blocks[j, 0]` up to `blocks[j, 1]`.
    """
    width = values.shape[1]
    row = np.empty(width)
    for i in range(begin, end):
        row[:] = 0.0
        for j in range(width):
            value = scale[i] * values[i, j]
            for k in range(blocks[j, 0], blocks[j, 1]):
                row[k] += value * mixing[j, k]
        for k in range(width):
            out[i, k] = row[k]


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


_GROUPS = 4
"""Columns whose gradients threads sum up side by side, for any number of threads.

Each group reads all rows: with more groups the sum of their times grows. Sums of parts of the rows
side by side, added up at the end, took a quarter longer; reading the transposed
matrix takes more than twice as long.
"""


@dataclass(frozen=True)
class _ColumnGroups:
    """Entries of a matrix by groups of columns (`csr.group_columns`)."""

    rows: Ints1d
    columns: Ints1d
    bounds: Pointers1d

    def add_product(self, values: Floats2d, out: Floats2d, workers: Workers) -> None:
        """`out += self.T @ values`, each group in a thread."""

        def group(first: int, last: int) -> None:
            for i in range(first, last):
                start, stop = int(self.bounds[i]), int(self.bounds[i + 1])
                for begin in range(start, stop, LARGEST_PIECE):
                    end = min(begin + LARGEST_PIECE, stop)
                    add_entries(self.rows, self.columns, values, out, begin, end)

        workers.map(group, [(i, i + 1) for i in range(len(self.bounds) - 1)])


@dataclass
class BinaryCSR:
    """A binary sparse matrix `[n_rows, n_columns]`: row `i` is `indices[indptr[i]:indptr[i+1]]`."""

    indptr: Pointers1d
    indices: Ints1d
    n_columns: int
    _groups: _ColumnGroups | None = field(default=None, init=False, repr=False, compare=False)

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

        workers.map(piece, split(self.indptr, out.shape[1]))

    def add_transposed_product(self, values: Floats2d, out: Floats2d, workers: Workers) -> None:
        """`out += self.T @ values`, the same bits for any number of threads.

        Several threads sum up groups of columns. The order of entries that this takes is kept until
        `release_memory`; it is as large as two copies of the indices. One thread does without.
        """
        if workers.n_threads == 1:
            for begin, end in split(self.indptr):
                add_to_columns(self.indptr, self.indices, values, out, begin, end)
            return
        if self._groups is None:
            self._groups = _ColumnGroups(
                *group_columns(self.indptr, self.indices, self.n_columns, _GROUPS)
            )
        self._groups.add_product(values, out, workers)

    def release_memory(self) -> None:
        """Free what the next transposed product makes again."""
        self._groups = None


def used_columns(*matrices: BinaryCSR) -> Ints1d:
    """The columns that are not zero in all of these matrices, int32, ascending."""
    n_columns = matrices[0].n_columns
    if n_columns > sum(len(matrix.indices) for matrix in matrices):
        return np.unique(np.concatenate([matrix.indices for matrix in matrices]))
    is_used = np.zeros(n_columns, dtype=np.bool_)
    for matrix in matrices:
        is_used[matrix.indices] = True
    return np.flatnonzero(is_used).astype(np.int32)
