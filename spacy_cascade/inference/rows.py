"""Sums of rows: the one kernel behind scores and gradients.

A binary sparse matrix is kept as rows of column numbers: row `i` holds
`columns[starts[i]:starts[i + 1]]`. Scores are such a matrix times weights,
gradients its transpose times expectations.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from ..types import Floats1d, Floats2d, Ints1d, Pointers1d, RealsXd


@kernel
def add_rows(
    starts: Pointers1d,
    columns: Ints1d,
    values: RealsXd,
    out: Floats2d,
    begin: int,
    end: int,
) -> None:
    """`out[i] += Σ_j values[columns[j]]`, `j` in row `i`, for rows `begin <= i < end`.

    `values` `[n_columns, W]`, `out` `[n_rows, W]`; only `out[begin:end]` is written, so
    calls on separate ranges may run at the same time and give the same bits as one call.
    """
    width = out.shape[1]
    for i in range(begin, end):
        for j in range(starts[i], starts[i + 1]):
            column = columns[j]
            for k in range(width):
                out[i, k] += values[column, k]


@kernel
def transpose_rows(
    starts: Pointers1d, columns: Ints1d, n_columns: int
) -> tuple[Pointers1d, Ints1d]:
    """The transposed matrix in the same form, rows in ascending order (counting sort)."""
    transposed_starts = np.zeros(n_columns + 1, dtype=np.int64)
    for j in range(starts[0], starts[-1]):
        transposed_starts[columns[j] + 1] += 1
    for c in range(n_columns):
        transposed_starts[c + 1] += transposed_starts[c]
    free = transposed_starts[:-1].copy()
    rows = np.empty(transposed_starts[-1], dtype=np.int32)
    for i in range(len(starts) - 1):
        for j in range(starts[i], starts[i + 1]):
            column = columns[j]
            rows[free[column]] = i
            free[column] += 1
    return transposed_starts, rows


@kernel
def scale_and_mix(
    values: Floats2d, scale: Floats1d, mixing: Floats2d, out: Floats2d, begin: int, end: int
) -> None:
    """`out[i] = scale[i] · (values[i] @ mixing)` for rows `begin <= i < end`.

    values, out `[n, S]`; scale `[n]`; mixing `[S, S]`.
    """
    width = values.shape[1]
    for i in range(begin, end):
        out[i, :] = 0.0
        for j in range(width):
            value = scale[i] * values[i, j]
            for k in range(width):
                out[i, k] += value * mixing[j, k]
