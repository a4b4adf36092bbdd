"""Sums of sparse rows against dense matrices."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import dense_rows, rows_from_dense
from spacy_cascade.numeric.csr import add_entries, add_rows, group_columns, scale_and_mix
from strategies import counts2d

MATRICES = counts2d(st.integers(0, 6), st.integers(1, 5))


@given(MATRICES)
def test_rows_survive_the_way_through_a_dense_matrix(matrix):
    np.testing.assert_array_equal(dense_rows(rows_from_dense(matrix)), matrix)


@given(MATRICES, st.integers(1, 4))
def test_add_rows_is_a_product(matrix, width):
    rows = rows_from_dense(matrix)
    generator = np.random.default_rng(len(matrix))
    values = generator.normal(size=(rows.n_columns, width))
    out = generator.normal(size=(rows.n_rows, width))
    expected = out + matrix @ values
    add_rows(rows.indptr, rows.indices, values, out, 0, rows.n_rows)
    np.testing.assert_allclose(out, expected, atol=1e-12)


def test_add_rows_writes_only_its_range(generator):
    rows = rows_from_dense(generator.integers(0, 2, (9, 5)))
    values = generator.normal(size=(5, 3))
    whole, pieces = np.zeros((9, 3)), np.zeros((9, 3))
    add_rows(rows.indptr, rows.indices, values, whole, 0, 9)
    add_rows(rows.indptr, rows.indices, values, pieces, 2, 5)
    assert not pieces[:2].any()
    assert not pieces[5:].any()
    add_rows(rows.indptr, rows.indices, values, pieces, 5, 9)
    add_rows(rows.indptr, rows.indices, values, pieces, 0, 2)
    np.testing.assert_array_equal(pieces, whole)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_may_be_single_precision_and_read_only(dtype, generator):
    matrix = generator.integers(0, 3, (4, 5))
    rows = rows_from_dense(matrix)
    values = generator.normal(size=(5, 2)).astype(dtype)
    values.flags.writeable = False
    out = np.zeros((4, 2))
    add_rows(rows.indptr, rows.indices, values, out, 0, 4)
    np.testing.assert_allclose(out, matrix @ values.astype(np.float64), rtol=1e-12)


@given(MATRICES, st.integers(1, 4), st.integers(1, 4))
def test_add_entries_is_a_product_with_the_transposed_matrix(matrix, width, n_groups):
    """Group by group, each of which writes a range of its own."""
    csr = rows_from_dense(matrix)
    rows, columns, bounds = group_columns(csr.indptr, csr.indices, csr.n_columns, n_groups)
    generator = np.random.default_rng(len(matrix))
    values = generator.normal(size=(csr.n_rows, width))
    out = generator.normal(size=(csr.n_columns, width))
    expected = out + matrix.T @ values
    written: list[set[int]] = []
    for begin, end in pairwise(bounds.tolist()):
        before = out.copy()
        add_entries(rows, columns, values, out, begin, end)
        written.append(set(np.flatnonzero((out != before).any(axis=1)).tolist()))
        assert (np.diff(rows[begin:end]) >= 0).all()
    np.testing.assert_allclose(out, expected, atol=1e-12)
    in_order = [column for group in written for column in sorted(group)]
    assert in_order == sorted(set(in_order))


def test_groups_of_columns_have_about_equally_many_entries(generator):
    csr = rows_from_dense(generator.integers(0, 3, (200, 40)))
    rows, columns, bounds = group_columns(csr.indptr, csr.indices, csr.n_columns, 4)
    assert sorted(zip(rows.tolist(), columns.tolist(), strict=True)) == sorted(
        (i, int(column))
        for i in range(csr.n_rows)
        for column in csr.indices[csr.indptr[i] : csr.indptr[i + 1]]
    )
    assert np.diff(bounds).max() < 1.2 * len(rows) / 4


def test_scale_and_mix(generator):
    """Where rows of the mixing are zero outside of a block, and where nothing is."""
    everything, block = np.array([[0, 3]] * 3), np.array([[0, 2], [0, 2], [2, 3]])
    for blocks in (everything, block):
        values, scale = generator.normal(size=(7, 3)), generator.normal(size=7)
        mixing = generator.normal(size=(3, 3))
        for row, (first, last) in zip(mixing, blocks, strict=True):
            row[:first] = row[last:] = 0.0
        expected, out = scale[:, None] * (values @ mixing), np.full((7, 3), np.nan)
        scale_and_mix(values, scale, mixing, blocks, out, 0, 3)
        np.testing.assert_allclose(out[:3], expected[:3])
        assert np.isnan(out[3:]).all()
        scale_and_mix(values, scale, mixing, blocks, out, 3, 7)
        np.testing.assert_allclose(out, expected)
        scale_and_mix(values, scale, mixing, blocks, values, 0, 7)
        np.testing.assert_allclose(values, expected)
