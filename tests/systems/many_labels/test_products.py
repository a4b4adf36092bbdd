"""Blocked products and maxima against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_cascade.systems.many_labels.products import Shape, add_products, best_sums, in_tiles

SIZES = [(1, 1, 1), (3, 5, 31), (4, 8, 32), (7, 3, 33), (9, 13, 70)]


@pytest.mark.parametrize("sizes", SIZES)
def test_products_inside_of_larger_matrices(
    generator: np.random.Generator, sizes: tuple[int, int, int]
) -> None:
    rows, inner, columns = sizes
    left, out = generator.normal(size=(12, 20)), generator.normal(size=(14, 80))
    right, before = generator.normal(size=(inner, columns)), out.copy()
    own, its = left[2 : 2 + rows, 3 : 3 + inner], (slice(4, 4 + rows), slice(5, 5 + columns))
    shape = Shape(2, 3, 4, 5, rows, inner, columns)
    add_products(left, in_tiles(right), out, shape)
    np.testing.assert_allclose(out[its], before[its] + own @ right, atol=1e-12)
    best_sums(left, in_tiles(right), out, shape)
    np.testing.assert_array_equal(out[its], (own[:, :, None] + right).max(axis=1))
    out[its] = before[its]
    np.testing.assert_array_equal(out, before)


def test_a_row_has_the_same_bits_in_any_company(generator: np.random.Generator) -> None:
    left, tiles = generator.normal(size=(9, 21)), in_tiles(generator.normal(size=(21, 40)))
    together, alone = np.zeros((2, 9, 40))
    add_products(left, tiles, together, Shape(0, 0, 0, 0, 9, 21, 40))
    for i in range(9):
        add_products(left, tiles, alone, Shape(i, 0, i, 0, 1, 21, 40))
    np.testing.assert_array_equal(together, alone)


def test_tiles_stand_below_each_other() -> None:
    tiles = in_tiles(np.arange(1.0, 67.0).reshape(2, 33))
    assert tiles.shape == (4, 32)
    assert tiles[1, 0] == 34.0
    assert tiles[2:, 0].tolist() == [33.0, 66.0]
    assert not tiles[2:, 1:].any()
