"""Parts of a product are each computed once, and added up in their order."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from reference import dense_rows, rows_from_dense
from spacy_cascade.numeric.csr import group_columns
from spacy_cascade.numeric.design import BinaryCSR
from spacy_cascade.numeric.parts import Memory, part_bounds
from spacy_cascade.parallel import Workers


@pytest.fixture
def matrix(generator: np.random.Generator) -> BinaryCSR:
    """So large that its rows are divided into five pieces or more."""
    few = rows_from_dense(generator.integers(0, 2, (50, 9)))
    return few.take(generator.integers(0, 50, 20_000))


@pytest.mark.parametrize("n_parts", [1, 2, 3, 50])
def test_a_part_is_the_product_of_its_rows(
    n_parts: int, matrix: BinaryCSR, generator: np.random.Generator
) -> None:
    values = generator.normal(size=(matrix.n_rows, 2))
    bounds, dense = part_bounds(matrix.indptr, n_parts), dense_rows(matrix)
    assert bounds.dtype == np.int64
    assert (len(bounds), bounds[0], bounds[-1]) == (n_parts + 1, 0, matrix.n_rows)
    if n_parts == 3:
        assert np.diff(bounds).min() > matrix.n_rows // 6, "parts of about one size"
    add = matrix.adding(values, n_parts)
    for part, (begin, end) in enumerate(pairwise(bounds)):
        out = np.ones((9, 2))
        add(part, out)
        np.testing.assert_allclose(out, 1.0 + dense[begin:end].T @ values[begin:end], atol=1e-9)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n_parts", [1, 3, 4, 5, 9])
def test_each_part_is_added_once_and_in_order(
    n_parts: int, threads: int, generator: np.random.Generator
) -> None:
    """Sums of numbers of very different size depend on the order."""
    made: list[tuple[str, int]] = []
    parts = generator.normal(size=(n_parts, 5, 2)) * 10.0 ** generator.integers(0, 16, (5, 1))

    def first(part: int, out: np.ndarray) -> None:
        made.append(("first", part))
        out += parts[part]

    def second(part: int, out: np.ndarray) -> None:
        made.append(("second", part))
        out *= 2.0

    memory, out = Memory(), np.full((5, 2), np.nan)
    for _ in range(2):
        made.clear()
        memory.add_up([first, second], n_parts, out, Workers(threads))
        wanted = [(name, part) for part in range(n_parts) for name in ("first", "second")]
        assert sorted(made) == sorted(wanted)
        np.testing.assert_allclose(out, 2.0 * parts.sum(axis=0), rtol=1e-12)


def test_sums_of_another_size_take_the_same_memory(generator: np.random.Generator) -> None:
    memory = Memory()
    for shape in ((6, 2), (3, 2), (3, 3), (7, 3)):
        value, out = generator.normal(size=shape), np.empty(shape)

        def add(part: int, to: np.ndarray, value: np.ndarray = value) -> None:
            to += value

        memory.add_up([add], 2, out, Workers(1))
        np.testing.assert_allclose(out, 2 * value)


def test_groups_of_columns_have_about_equally_many_entries(matrix: BinaryCSR) -> None:
    rows, columns, bounds = group_columns(matrix.indptr, matrix.indices, matrix.n_columns, 4)
    assert (len(bounds), bounds[0], bounds[-1]) == (5, 0, len(matrix.indices))
    assert np.diff(bounds).min() > len(matrix.indices) // 8
    groups = [set(columns[a:b].tolist()) for a, b in pairwise(bounds)]
    assert sum(map(len, groups)) == len(set.union(*groups)), "no column is in two groups"
    assert all((np.diff(rows[a:b]) >= 0).all() for a, b in pairwise(bounds))
    pairs = np.repeat(np.arange(matrix.n_rows), np.diff(matrix.indptr)), matrix.indices
    assert sorted(zip(rows, columns, strict=True)) == sorted(zip(*pairs, strict=True))
