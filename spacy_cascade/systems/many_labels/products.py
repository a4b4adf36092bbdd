"""Products of matrices, and the same with sums and maxima, blocked for registers and caches.

    add_products:   out[i, c] += Σ_p left[i, p] right[p, c]
    best_sums:      out[i, c] = max_p (left[i, p] + right[p, c])

The right side comes in tiles of `WIDTH` columns (`in_tiles`). Four rows of the left side at a time
meet four rows of a tile, so what is read is used four times, and the sums of a tile stay in the
innermost cache. Sums have the same order whatever the number of rows, so a row has the same bits in
any company. A library for linear algebra is as fast, but has threads of its own, and its bits may
depend on their number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...jit import helper, maker
from ...types import Floats2d

WIDTH = 32
"""Columns of a tile. Four rows of it and of the sums are two kilobytes."""


class Shape(NamedTuple):
    """Where the matrices of a product stand inside of larger ones.

    left_row, left_column, out_row, out_column: the first ones. rows, inner, columns: sizes.
    """

    left_row: int
    left_column: int
    out_row: int
    out_column: int
    rows: int
    inner: int
    columns: int


def in_tiles(matrix: Floats2d) -> Floats2d:
    """`[p, c]` as tiles below each other `[n p, WIDTH]`, zeros after the last column."""
    inner, columns = matrix.shape
    n_tiles = -(-columns // WIDTH)
    wide = np.zeros((inner, n_tiles * WIDTH))
    wide[:, :columns] = matrix
    by_tile = wide.reshape(inner, n_tiles, WIDTH).transpose(1, 0, 2)
    return np.ascontiguousarray(by_tile).reshape(n_tiles * inner, WIDTH)


@maker
def _four_rows(left, shape, i):  # type: ignore[no-untyped-def]
    """Rows `i` to `i + 3` of the left side; the last one again where there are fewer."""
    row, last = shape.left_row + i, shape.left_row + shape.rows - 1
    begin, end = shape.left_column, shape.left_column + shape.inner
    return (
        left[row, begin:end],
        left[min(row + 1, last), begin:end],
        left[min(row + 2, last), begin:end],
        left[min(row + 3, last), begin:end],
    )


@helper
def _tile_products(rows, tiles, base, sums):  # type: ignore[no-untyped-def]
    """Fill `sums` `[4 WIDTH]` with the products of four rows and the tile that begins at `base`."""
    a, b, c, d = rows
    inner = len(a)
    for j in range(4 * WIDTH):
        sums[j] = 0.0
    for p in range(0, inner - 3, 4):
        a0, a1, a2, a3 = a[p], a[p + 1], a[p + 2], a[p + 3]
        b0, b1, b2, b3 = b[p], b[p + 1], b[p + 2], b[p + 3]
        c0, c1, c2, c3 = c[p], c[p + 1], c[p + 2], c[p + 3]
        d0, d1, d2, d3 = d[p], d[p + 1], d[p + 2], d[p + 3]
        q = base + p
        for j in range(WIDTH):
            w, x, y, z = tiles[q, j], tiles[q + 1, j], tiles[q + 2, j], tiles[q + 3, j]
            sums[j] += (a0 * w + a1 * x) + (a2 * y + a3 * z)
            sums[WIDTH + j] += (b0 * w + b1 * x) + (b2 * y + b3 * z)
            sums[2 * WIDTH + j] += (c0 * w + c1 * x) + (c2 * y + c3 * z)
            sums[3 * WIDTH + j] += (d0 * w + d1 * x) + (d2 * y + d3 * z)
    for p in range(inner - inner % 4, inner):
        for j in range(WIDTH):
            w = tiles[base + p, j]
            sums[j] += a[p] * w
            sums[WIDTH + j] += b[p] * w
            sums[2 * WIDTH + j] += c[p] * w
            sums[3 * WIDTH + j] += d[p] * w


@maker
def add_products(left, tiles, out, shape):  # type: ignore[no-untyped-def]
    """`out[i, c] += Σ_p left[i, p] right[p, c]`; tiles: of the right side. shape: a `Shape`."""
    sums = np.empty(4 * WIDTH)
    for column in range(0, shape.columns, WIDTH):
        base, width = column // WIDTH * shape.inner, min(WIDTH, shape.columns - column)
        for i in range(0, shape.rows, 4):
            _tile_products(_four_rows(left, shape, i), tiles, base, sums)
            for r in range(min(4, shape.rows - i)):
                row = out[shape.out_row + i + r, shape.out_column + column :]
                for j in range(width):
                    row[j] += sums[r * WIDTH + j]


@helper
def larger(u, v):  # type: ignore[no-untyped-def]
    """The larger of two numbers, without what `max` does for those that are none."""
    return u if u > v else v


@helper
def _tile_maxima(rows, tiles, base, best):  # type: ignore[no-untyped-def]
    """Fill `best` `[4 WIDTH]`, as `_tile_products` with sums for products and maxima for sums."""
    a, b, c, d = rows
    inner = len(a)
    for j in range(4 * WIDTH):
        best[j] = -np.inf
    for p in range(0, inner - 3, 4):
        a0, a1, a2, a3 = a[p], a[p + 1], a[p + 2], a[p + 3]
        b0, b1, b2, b3 = b[p], b[p + 1], b[p + 2], b[p + 3]
        c0, c1, c2, c3 = c[p], c[p + 1], c[p + 2], c[p + 3]
        d0, d1, d2, d3 = d[p], d[p + 1], d[p + 2], d[p + 3]
        q = base + p
        for j in range(WIDTH):
            w, x, y, z = tiles[q, j], tiles[q + 1, j], tiles[q + 2, j], tiles[q + 3, j]
            of_a = larger(larger(a0 + w, a1 + x), larger(a2 + y, a3 + z))
            of_b = larger(larger(b0 + w, b1 + x), larger(b2 + y, b3 + z))
            of_c = larger(larger(c0 + w, c1 + x), larger(c2 + y, c3 + z))
            of_d = larger(larger(d0 + w, d1 + x), larger(d2 + y, d3 + z))
            best[j] = larger(best[j], of_a)
            best[WIDTH + j] = larger(best[WIDTH + j], of_b)
            best[2 * WIDTH + j] = larger(best[2 * WIDTH + j], of_c)
            best[3 * WIDTH + j] = larger(best[3 * WIDTH + j], of_d)
    for p in range(inner - inner % 4, inner):
        for j in range(WIDTH):
            w = tiles[base + p, j]
            best[j] = larger(best[j], a[p] + w)
            best[WIDTH + j] = larger(best[WIDTH + j], b[p] + w)
            best[2 * WIDTH + j] = larger(best[2 * WIDTH + j], c[p] + w)
            best[3 * WIDTH + j] = larger(best[3 * WIDTH + j], d[p] + w)


@maker
def best_sums(left, tiles, out, shape):  # type: ignore[no-untyped-def]
    """`out[i, c] = max_p (left[i, p] + right[p, c])`; as `add_products`, but `out` is written."""
    best = np.empty(4 * WIDTH)
    for column in range(0, shape.columns, WIDTH):
        base, width = column // WIDTH * shape.inner, min(WIDTH, shape.columns - column)
        for i in range(0, shape.rows, 4):
            _tile_maxima(_four_rows(left, shape, i), tiles, base, best)
            for r in range(min(4, shape.rows - i)):
                row = out[shape.out_row + i + r, shape.out_column + column :]
                for j in range(width):
                    row[j] = best[r * WIDTH + j]
