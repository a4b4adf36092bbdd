"""Sums of rows: what scores and gradients are made of.

A binary sparse matrix is kept as rows of column numbers: row `i` holds
`columns[starts[i]:starts[i + 1]]`. Scores are such a matrix times weights,
gradients its transpose times expectations.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from ..types import Floats1d, Floats2d, Ints1d, Pointers1d, Pointers2d, RealsXd


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
        out[i] = row


@kernel
def active_features(
    lexeme_starts: Pointers1d,
    lexeme_columns: Ints1d,
    unit_lexeme_starts: Pointers1d,
    unit_lexeme_columns: Ints1d,
    unit_starts: Pointers1d,
    unit_columns: Ints1d,
) -> tuple[Pointers1d, Ints1d]:
    """Features of each unit of a factored design matrix (`features.design`), `L A + D`.

    lexeme_starts, lexeme_columns: `A`. unit_lexeme_starts, unit_lexeme_columns: `L`.
    unit_starts, unit_columns: `D`. Returns `starts` `[U + 1]` and the features: those of unit
    `u` stand at `starts[u]:starts[u + 1]`, more than once where both `A` and `D` have them.
    """
    n_units = len(unit_starts) - 1
    starts = np.empty(n_units + 1, dtype=np.int64)
    starts[0] = 0
    for unit in range(n_units):
        size = starts[unit] + unit_starts[unit + 1] - unit_starts[unit]
        for i in range(unit_lexeme_starts[unit], unit_lexeme_starts[unit + 1]):
            row = unit_lexeme_columns[i]
            size += lexeme_starts[row + 1] - lexeme_starts[row]
        starts[unit + 1] = size
    features = np.empty(starts[n_units], dtype=np.int32)
    for unit in range(n_units):
        place = starts[unit]
        for i in range(unit_lexeme_starts[unit], unit_lexeme_starts[unit + 1]):
            row = unit_lexeme_columns[i]
            for j in range(lexeme_starts[row], lexeme_starts[row + 1]):
                features[place] = lexeme_columns[j]
                place += 1
        for i in range(unit_starts[unit], unit_starts[unit + 1]):
            features[place] = unit_columns[i]
            place += 1
    return starts, features
