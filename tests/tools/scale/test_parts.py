"""Parts of a product are each computed once, and added up in the order of their tree."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import dense_rows, rows_from_dense
from spacy_cascade.numeric.csr import group_columns
from spacy_cascade.numeric.design import BinaryCSR
from spacy_cascade.parallel import Workers
from spacy_cascade.tools.scale.parts import Memory, Node, add_part, nodes_of, part_bounds


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
    for part, (begin, end) in enumerate(pairwise(bounds)):
        out = np.ones((9, 2))
        add_part(matrix.indptr, matrix.indices, part, n_parts, values, out)
        np.testing.assert_allclose(out, 1.0 + dense[begin:end].T @ values[begin:end], atol=1e-9)
    out = np.full((9, 2), np.nan)
    matrix.write_transposed_product(values, out, Workers(2), n_parts, Memory())
    np.testing.assert_allclose(out, dense.T @ values, atol=1e-9)


def tree_sum(parts: np.ndarray) -> np.ndarray:
    """Of two parts their sum, of more the sum of the sums of their halves."""
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    return tree_sum(parts[:middle]) + tree_sum(parts[middle:])


@given(st.integers(1, 20), st.integers(1, 5), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_who_computes_what_changes_no_bit(
    n_parts: int, threads: int, workers: int, seed: int
) -> None:
    """Sums of numbers of very different size depend on the order."""
    generator = np.random.default_rng(seed)
    parts = generator.normal(size=(n_parts, 5, 2)) * 10.0 ** generator.integers(0, 16, (5, 1))
    expected, tree, pool = tree_sum(parts), (0, n_parts), Workers(threads)
    made: list[Node] = []

    def add_parts(node: Node, out: np.ndarray) -> None:
        made.append(node)
        (own,) = parts[slice(*node)]
        out += own

    memory, out = Memory(), np.full((5, 2), np.nan)
    for _ in range(2):
        made.clear()
        memory.add_up(tree, add_parts, out, pool)
        assert sorted(made) == [(part, part + 1) for part in range(n_parts)], "each once"
        np.testing.assert_array_equal(out, expected)

    bounds = [n_parts * i // workers for i in range(workers + 1)]
    of_workers = [nodes_of(own, tree) for own in pairwise(bounds)]
    given_sums: dict[Node, np.ndarray] = {}
    for node in (node for nodes in of_workers for node in nodes):
        given_sums[node] = np.empty((5, 2))
        memory.add_up(node, add_parts, given_sums[node], Workers(1))

    def add_given(node: Node, out: np.ndarray) -> None:
        out += given_sums[node]

    memory.add_up(tree, add_given, out, pool, given_sums)
    np.testing.assert_array_equal(out, expected)


def test_nodes_are_as_few_as_can_be() -> None:
    assert nodes_of((0, 8), (0, 8)) == [(0, 8)]
    assert nodes_of((4, 8), (0, 8)) == [(4, 8)]
    assert nodes_of((2, 5), (0, 8)) == [(2, 4), (4, 5)]
    assert nodes_of((3, 3), (0, 8)) == []


def test_sums_of_another_size_take_the_same_memory(generator: np.random.Generator) -> None:
    memory = Memory()
    for shape in ((6, 2), (3, 2), (3, 3), (7, 3)):
        value, out = generator.normal(size=shape), np.empty(shape)

        def add(node: Node, to: np.ndarray, value: np.ndarray = value) -> None:
            to += value

        memory.add_up((0, 2), add, out, Workers(1))
        np.testing.assert_array_equal(out, 2 * value)
        assert len(memory._free) == 1


def test_groups_of_columns_have_about_equally_many_entries(matrix: BinaryCSR) -> None:
    rows, columns, bounds = group_columns(matrix.indptr, matrix.indices, matrix.n_columns, 4)
    assert (len(bounds), bounds[0], bounds[-1]) == (5, 0, len(matrix.indices))
    assert np.diff(bounds).min() > len(matrix.indices) // 8
    groups = [set(columns[a:b].tolist()) for a, b in pairwise(bounds)]
    assert sum(map(len, groups)) == len(set.union(*groups)), "no column is in two groups"
    assert all((np.diff(rows[a:b]) >= 0).all() for a, b in pairwise(bounds))
    pairs = np.repeat(np.arange(matrix.n_rows), np.diff(matrix.indptr)), matrix.indices
    assert sorted(zip(rows, columns, strict=True)) == sorted(zip(*pairs, strict=True))
