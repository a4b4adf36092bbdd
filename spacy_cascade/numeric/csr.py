"""Sums of rows, as scores and gradients are.

Scores are a binary sparse matrix (`design.BinaryCSR`) times weights, gradients its transpose times
expectations.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from ..types import Floats1d, Floats2d, Ints1d, Pointers1d, Pointers2d, RealsXd


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
