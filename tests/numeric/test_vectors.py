"""Long vectors: sums in blocks, the same for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_cascade.numeric.vectors import add_scaled, dot, in_blocks
from spacy_cascade.parallel import Workers

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
