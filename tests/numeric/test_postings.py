"""Posting lists and their intersections against dense matrices."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reference import dense_rows, rows_from_dense
from spacy_cascade.numeric.postings import intersections, stacked, transposed
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
