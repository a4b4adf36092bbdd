"""Numbers side by side in kernels."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_cascade.jit import kernel
from spacy_cascade.lanes import doubles, filled, load, one_of, plus, store, times


@kernel
def _scaled_sum(x, y, out, row):  # type: ignore[no-untyped-def]
    found = plus(times(doubles(load(x, (row, 1), 4)), load(y, (row, 2), 4)), filled(0.5, 4))
    store(out, (row, 3), found)
    return one_of(found, 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_numbers_side_by_side(dtype, order, generator):
    """Rows of any layout; nothing else is written."""
    x, y = (np.array(each, dtype, order=order) for each in generator.normal(size=(2, 3, 7)))
    out = np.zeros((3, 8), order=order)
    last = _scaled_sum(x, y, out, 1)
    expected = np.zeros((3, 8))
    expected[1, 3:7] = x[1, 1:5].astype(np.float64) * y[1, 2:6] + 0.5
    np.testing.assert_array_equal(out, expected)
    assert last == out[1, 6]
