"""Arrays that grow, arrays in blocks, sums that are the same for any threads; memory."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from spacy_cascade.numeric.arrays import _BLOCK, blocks, grown
from spacy_cascade.numeric.vectors import add_scaled, dot, in_blocks
from spacy_cascade.parallel import Workers
from spacy_cascade.trainers import lbfgs_run


@pytest.mark.parametrize("n", [0, 1, _BLOCK, _BLOCK + 1, 2 * _BLOCK, 5 * _BLOCK // 2])
def test_blocks_have_each_value_once(n: int) -> None:
    """Those of large arrays are views."""
    values = np.arange(n)
    found = list(blocks(values))
    np.testing.assert_array_equal(np.concatenate([np.zeros(0), *found]), values)
    assert all(0 < len(block) <= _BLOCK and np.shares_memory(block, values) for block in found)


def test_blocks_are_in_the_order_of_memory() -> None:
    rows = np.arange(6).reshape(2, 3)
    for values in (rows, rows.T):
        assert [block.tolist() for block in blocks(values)] == [[0, 1, 2, 3, 4, 5]]


@pytest.mark.parametrize("rows", [np.arange(3, dtype=np.int32), np.ones((2, 4), dtype=np.float32)])
def test_rows_of_zeros_are_added(rows: np.ndarray) -> None:
    more = grown(rows, 5)
    assert (len(more), more.dtype) == (5, rows.dtype)
    np.testing.assert_array_equal(more[: len(rows)], rows)
    assert not more[len(rows) :].any()


LENGTHS = [0, 1, 1000, (1 << 18) - 1, 1 << 18, (1 << 18) + 1, 700_001]


@pytest.mark.parametrize("length", LENGTHS)
def test_dot(length, generator):
    x, y = generator.normal(size=(2, length))
    results = [dot(x, y, Workers(threads)) for threads in (1, 2, 3)]
    assert results[0] == pytest.approx(float(x @ y), rel=1e-9, abs=1e-9)
    assert results == [results[0]] * 3


@pytest.mark.parametrize("length", LENGTHS)
def test_add_scaled(length, generator):
    x, y = generator.normal(size=(2, length))
    expected = y - 0.3 * x
    for threads in (1, 2, 3):
        out = y.copy()
        add_scaled(-0.3, x, out, Workers(threads))
        np.testing.assert_allclose(out, expected, atol=1e-15)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("threads", [1, 2])
def test_slices_cover_a_vector_once(length, threads):
    counts = np.zeros(length)

    def add_one(part):
        counts[part] += 1.0

    in_blocks(add_one, length, Workers(threads))
    assert (counts == 1.0).all()


@pytest.mark.parametrize("error", [OSError, AttributeError, TypeError])
def test_other_libraries_are_left_alone(error, monkeypatch):
    lbfgs_run._trim.cache_clear()  # what was learnt of another library

    def fail(name):
        raise error

    monkeypatch.setattr(ctypes, "CDLL", fail)
    lbfgs_run.return_freed()
    lbfgs_run._trim.cache_clear()


def test_it_changes_no_array():
    kept = [np.arange(1000) for _ in range(200)]
    del kept[::2]
    lbfgs_run.return_freed()
    assert all((array == np.arange(1000)).all() for array in kept)
