"""Sums over long vectors, against the same steps one by one."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_cascade.numeric.vectors import copied, dot, move_and_dot
from spacy_cascade.parallel import Workers

BLOCK = 1 << 18


def sum_of_fours(x, y):
    """Four sums side by side in each block, each in the order of the vectors."""
    total = []
    for begin in range(0, len(x), BLOCK):
        products = x[begin : begin + BLOCK].astype(np.float64) * y[begin : begin + BLOCK]
        fours = len(products) // 4 * 4
        a, b, c, d = (np.cumsum(products[i:fours:4])[-1] if fours else 0.0 for i in range(4))
        for rest in products[fours:]:
            a += rest
        total.append((a + b) + (c + d))
    return float(np.sum(total))


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("n", [1, 7, 8, BLOCK, 2 * BLOCK + 5])
def test_sums_are_the_same_bits_as_one_by_one(n, n_threads, generator):
    """Of vectors in single and in double precision."""
    x, z = generator.normal(size=(2, n)).astype(np.float32)
    y, workers = generator.normal(size=n), Workers(n_threads)
    for pair in ((x, y), (y, y), (x, z)):
        assert dot(*pair, workers) == sum_of_fours(*pair)
    moved = 0.3 * (y + 1.7 * x.astype(np.float64))
    assert move_and_dot(1.7, x, 0.3, y, z, workers) == sum_of_fours(moved, z)
    np.testing.assert_array_equal(y, moved)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_copy_in_less_precision(n_threads, generator):
    """Numbers that are too large for it are no error."""
    x = generator.normal(size=BLOCK + 3)
    x[[0, -1]] = 1e300, -1e300
    copy = np.zeros(len(x), dtype=np.float32)
    with np.errstate(over="raise"):
        assert copied(x, copy, Workers(n_threads)) is copy
    np.testing.assert_array_equal(copy[[0, -1]], [np.inf, -np.inf])
    np.testing.assert_array_equal(copy[1:-1], x[1:-1].astype(np.float32))
