"""Arrays that grow, and arrays in blocks."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_cascade.numeric.arrays import _BLOCK, blocks, grown


@pytest.mark.parametrize("n", [0, 1, _BLOCK, _BLOCK + 1, 2 * _BLOCK, 5 * _BLOCK // 2])
def test_blocks_have_each_value_once(n: int) -> None:
    values = np.arange(n)
    found = list(blocks(values))
    np.testing.assert_array_equal(np.concatenate([np.zeros(0), *found]), values)
    assert all(0 < len(block) <= _BLOCK for block in found)


def test_blocks_are_in_the_order_of_memory() -> None:
    rows = np.arange(6).reshape(2, 3)
    assert [block.tolist() for block in blocks(rows)] == [[0, 1, 2, 3, 4, 5]]
    assert [block.tolist() for block in blocks(rows.T)] == [[0, 1, 2, 3, 4, 5]]


def test_blocks_of_a_large_array_are_views() -> None:
    values = np.zeros(3 * _BLOCK)
    assert all(np.shares_memory(block, values) for block in blocks(values))


@pytest.mark.parametrize("rows", [np.arange(3, dtype=np.int32), np.ones((2, 4), dtype=np.float32)])
def test_rows_of_zeros_are_added(rows: np.ndarray) -> None:
    more = grown(rows, 5)
    assert (len(more), more.dtype) == (5, rows.dtype)
    np.testing.assert_array_equal(more[: len(rows)], rows)
    assert not more[len(rows) :].any()
