"""Posting lists and their intersections against dense matrices."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reference import dense_rows, rows_from_dense
from spacy_cascade.systems.induction.postings import intersections, stacked, transposed
from strategies import counts2d

MATRICES = counts2d(st.integers(0, 8), st.integers(1, 5))


@given(MATRICES)
def test_transposed_rows_count_what_is_repeated_once(matrix):
    lists = transposed(rows_from_dense(matrix))
    np.testing.assert_array_equal(dense_rows(lists), (matrix > 0).T)
    for row in range(lists.n_rows):
        assert (np.diff(lists.indices[lists.indptr[row] : lists.indptr[row + 1]]) > 0).all()


@given(MATRICES, st.data())
def test_a_conjunction_holds_where_all_of_its_parts_do(matrix, data):
    columns = st.lists(st.integers(0, matrix.shape[1] - 1), min_size=1, max_size=4)
    parts = data.draw(st.lists(columns, max_size=4))
    lists = transposed(rows_from_dense(matrix))
    found = intersections(lists, stacked(parts, lists.n_rows))
    expected = [(matrix[:, part] > 0).all(axis=1) for part in parts]
    np.testing.assert_array_equal(
        dense_rows(found), np.array(expected, dtype=np.int64).reshape(len(parts), len(matrix))
    )


def lists_of(*rows):
    return stacked(rows, 10_000)


def found(lists, *conjunctions):
    result = intersections(lists, stacked(conjunctions, lists.n_rows))
    return [result.indices[a:b].tolist() for a, b in pairwise(result.indptr.tolist())]


def test_lists_that_lie_beside_each_other_are_told_apart():
    """The row that is looked for is the first of the list after the one that is searched."""
    lists = lists_of([0, 1, 2], [5], [7], [5, 7])
    assert found(lists, [0, 1], [1, 3], [2, 1], [3, 2]) == [[], [5], [], [7]]


def test_conjunctions_of_no_parts_and_of_empty_lists():
    lists = lists_of([], [1, 2])
    assert found(lists, [], [0], [1, 0], [1], [1, 1]) == [[], [], [], [1, 2], [1, 2]]


def test_many_intersections(generator):
    """More than there is room for at first, several times."""
    rows = [np.flatnonzero(generator.random(10_000) < share).tolist() for share in (0.2, 0.5, 0.9)]
    parts = [[0, 1], [1, 2], [0, 1, 2], [2], [1]]
    expected = [sorted(set.intersection(*(set(rows[p]) for p in part))) for part in parts]
    assert found(lists_of(*rows), *parts) == expected


def test_types_are_those_that_kernels_are_compiled_for():
    matrix = lists_of([1], [])
    for each in (matrix, transposed(matrix), intersections(matrix, matrix)):
        assert (each.indptr.dtype, each.indices.dtype) == (np.int64, np.int32)
    assert lists_of().indices.dtype == np.int32
