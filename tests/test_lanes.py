"""Numbers side by side in kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

from spacy_cascade import lanes

NAMES = "load", "store", "doubles", "plus", "times", "filled", "one_of"


def scaled_sum(n: int) -> Any:
    """A function that is compiled anew, as no kernel of the cache is."""
    written = [getattr(lanes, f"_{name}") for name in NAMES]
    plain = [getattr(lanes, name) for name in NAMES]
    load, store, doubles, plus, times, filled, one_of = map(lanes._compiled, written, plain)
    last = n - 1

    @njit
    def compiled(x, y, out, row):  # type: ignore[no-untyped-def]
        found = plus(times(doubles(load(x, (row, 1), n)), load(y, (row, 2), n)), filled(0.5, n))
        store(out, (row, 3), plus(found, load(y, (row, 0), n)))
        return one_of(found, last)

    return compiled


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_numbers_side_by_side(dtype, order, n, generator):
    """Rows of any layout; nothing else is written."""
    x, y = (np.array(each, dtype, order=order) for each in generator.normal(size=(2, 3, 7)))
    out = np.zeros((3, 8), order=order)
    last = scaled_sum(n)(x, y, out, 1)
    found = x[1, 1 : 1 + n].astype(np.float64) * y[1, 2 : 2 + n] + 0.5
    expected = np.zeros((3, 8))
    expected[1, 3 : 3 + n] = found + y[1, :n]
    np.testing.assert_array_equal(out, expected)
    assert last == found[n - 1]


@pytest.mark.parametrize("is_disabled", [True, False])
def test_what_stands_for_it_without_a_compiler(is_disabled, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lanes.config, "DISABLE_JIT", is_disabled)
    assert (lanes._compiled(lanes._load, len) is len) == is_disabled


def test_numbers_side_by_side_in_an_array():
    array = np.arange(24.0).reshape(2, 3, 4)
    np.testing.assert_array_equal(lanes._view(array, (1, 2, 1), 3), [21.0, 22.0, 23.0])
    lanes._put(array, (0, 1, 2), np.array([-1.0, -2.0]))
    np.testing.assert_array_equal(array[0], [[0, 1, 2, 3], [4, 5, -1, -2], [8, 9, 10, 11]])
