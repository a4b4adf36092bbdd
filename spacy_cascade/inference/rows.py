"""Sums of rows: what scores and gradients are made of.

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
def add_to_columns(
    starts: Pointers1d,
    columns: Ints1d,
    values: Floats2d,
    out: Floats2d,
    begin: int,
    end: int,
) -> None:
    """`out[columns[j]] += values[i]`, `j` in row `i`, for rows `begin <= i < end`.

    The product of the transposed matrix with `values` `[n_rows, W]`, added to `out`
    `[n_columns, W]`. Any row of `out` may be written.
    """
    width = out.shape[1]
    for i in range(begin, end):
        for j in range(starts[i], starts[i + 1]):
            column = columns[j]
            for k in range(width):
                out[column, k] += values[i, k]


@kernel
def scale_and_mix(
    values: Floats2d, scale: Floats1d, mixing: Floats2d, out: Floats2d, begin: int, end: int
) -> None:
    """`out[i] = scale[i] · (values[i] @ mixing)` for rows `begin <= i < end`.

    values, out `[n, S]`, which may be one array; scale `[n]`; mixing `[S, S]`.
    """
    width = values.shape[1]
    row = np.empty(width)
    for i in range(begin, end):
        row[:] = 0.0
        for j in range(width):
            value = scale[i] * values[i, j]
            for k in range(width):
                row[k] += value * mixing[j, k]
        out[i] = row
