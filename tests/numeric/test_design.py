"""The factored design matrix, and sums of sparse rows, against dense matrices."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import dense_design, dense_rows, gradient_of, rows_from_dense, scores_of
from spacy_cascade.numeric.csr import (
    add_entries,
    add_rows,
    group_columns,
    scale_and_mix,
    used_columns,
)
from spacy_cascade.numeric.design import Design, SegmentRows
from spacy_cascade.parallel import Workers
from strategies import counts2d, random_design, wide_design


@st.composite
def designs(draw: st.DrawFn) -> Design:
    units, lexemes, features = (draw(st.integers(0, 5)) for _ in range(3))
    return Design(
        rows_from_dense(draw(counts2d(st.just(lexemes), st.just(features)))),
        rows_from_dense(draw(counts2d(st.just(units), st.just(lexemes)))),
        rows_from_dense(draw(counts2d(st.just(units), st.just(features)))),
    )


@settings(max_examples=40)
@given(designs(), st.integers(1, 3))
def test_scores_and_gradient_are_products(design, width):
    """Of the matrix multiplied out; sums are kept and used again, inputs are left alone."""
    matrix = dense_design(design)
    generator = np.random.default_rng(matrix.size)
    weights = generator.normal(size=(matrix.shape[1], width))
    slopes = generator.normal(size=(matrix.shape[0], width))
    before, workers = (weights.copy(), slopes.copy()), Workers(1)
    np.testing.assert_allclose(scores_of(design, weights, workers), matrix @ weights, atol=1e-12)
    out = np.zeros_like(weights)
    for times in (1, 2):
        design.add_gradient(slopes, out, workers)
        np.testing.assert_allclose(out, times * matrix.T @ slopes, atol=1e-12)
    np.testing.assert_array_equal(weights, before[0])
    np.testing.assert_array_equal(slopes, before[1])
    np.testing.assert_array_equal(design.counts(workers), matrix.sum(axis=0))
    np.testing.assert_array_equal(dense_rows(design.active_features()), matrix)
    assert design.n_scored == len(matrix)


@settings(max_examples=40)
@given(counts2d(st.integers(1, 5), st.integers(1, 6)), st.integers(0, 99))
def test_columns_and_entries_can_be_left_out(matrix, seed):
    """Columns without entries, whose number changes; and single entries."""
    rows, generator = rows_from_dense(matrix), np.random.default_rng(seed)
    used = matrix.any(axis=0)
    np.testing.assert_array_equal(used_columns(rows), np.flatnonzero(used))
    kept = used | (generator.random(len(used)) < 0.5)
    alone = rows.on_columns(np.flatnonzero(kept).astype(np.int32))
    np.testing.assert_array_equal(dense_rows(alone), matrix[:, kept])
    is_dropped = generator.random(len(rows.indices)) < 0.5
    fewer = rows.without(is_dropped)
    entries = [
        (i, j) for i, j in zip(*np.nonzero(matrix), strict=True) for _ in range(matrix[i, j])
    ]
    expected = np.zeros_like(matrix)
    for (i, j), dropped in zip(entries, is_dropped.tolist(), strict=True):
        expected[i, j] += not dropped
    np.testing.assert_array_equal(dense_rows(fewer), expected)


def test_same_bits_for_any_number_of_threads(generator):
    """Of a design so large that its work is cut into pieces."""
    design = wide_design(generator, 9000)
    weights = generator.normal(size=(design.unit_features.n_columns, 3))
    slopes = generator.normal(size=(9000, 3))
    scores, gradient = (
        [function(design, values, Workers(threads)) for threads in (1, 2, 3)]
        for function, values in ((scores_of, weights), (gradient_of, slopes))
    )
    for found in (scores, gradient):
        np.testing.assert_array_equal(found[1], found[0])
        np.testing.assert_array_equal(found[2], found[0])


def test_segments_of_units(generator):
    """Segments of up to two units that end at each of three, against sums over their features."""
    matrix = generator.integers(0, 2, (5, 4))
    ends, length = np.array([0, 1, 3, 5]), np.array([1, 1, 2, 1, 2], dtype=np.int32)
    rows = SegmentRows(ends, length, rows_from_dense(matrix), 2)
    assert rows.bounds.tolist() == [[0, 1], [1, 2], [0, 2], [2, 3], [1, 3]]
    weights, slopes = generator.normal(size=(4, 2)), generator.normal(size=(5, 2))
    np.testing.assert_allclose(scores_of(rows, weights, Workers(1)), matrix @ weights)
    np.testing.assert_allclose(gradient_of(rows, slopes, Workers(1)), matrix.T @ slopes)
    np.testing.assert_array_equal(rows.counts(Workers(1)), matrix.sum(axis=0))


@settings(max_examples=30)
@given(
    counts2d(st.integers(0, 4), st.just(3)),
    counts2d(st.integers(0, 4), st.just(3)),
    st.lists(st.integers(0, 7), max_size=8),
)
def test_rows_after_others_and_some_of_them(first, second, numbers):
    rows, matrix = rows_from_dense(first), np.concatenate([first, second])
    rows = rows.append(rows_from_dense(second))
    np.testing.assert_array_equal(dense_rows(rows), matrix)
    wanted = [number for number in numbers if number < len(matrix)]
    some = rows.take(np.array(wanted, dtype=np.int64))
    np.testing.assert_array_equal(dense_rows(some), matrix[wanted])


def test_memory_of_gradients_is_released(generator):
    design = random_design(generator, 50, 6)
    segments = SegmentRows(
        np.arange(51), np.ones(50, dtype=np.int32), rows_from_dense(np.ones((50, 6), int)), 1
    )
    slopes = generator.normal(size=(50, 2))
    before = gradient_of(design, slopes, Workers(1))
    gradient_of(design, slopes, Workers(2))
    gradient_of(segments, slopes, Workers(2))
    matrices = [
        design.lexeme_features, design.unit_lexemes, design.unit_features, segments.features,
    ]  # fmt: skip
    orders = [matrix._groups for matrix in matrices]
    assert all(order is not None for order in orders)
    gradient_of(design, slopes, Workers(1))
    assert all(m._groups is order for m, order in zip(matrices, orders, strict=True)), "kept"
    design.release_memory()
    segments.release_memory()
    assert all(matrix._groups is None for matrix in matrices)
    np.testing.assert_allclose(gradient_of(design, slopes, Workers(1)), before, atol=1e-12)
    # One thread needs no other order of the entries.
    assert all(matrix._groups is None for matrix in matrices)


MATRICES = counts2d(st.integers(0, 6), st.integers(1, 5))


@settings(max_examples=40)
@given(MATRICES, st.integers(1, 4), st.sampled_from([np.float32, np.float64]))
def test_add_rows_is_a_product(matrix, width, dtype):
    """Values may be single precision and read-only; a range of rows is written, and no other."""
    rows = rows_from_dense(matrix)
    generator = np.random.default_rng(len(matrix))
    values = generator.normal(size=(rows.n_columns, width)).astype(dtype)
    values.flags.writeable = False
    out = generator.normal(size=(rows.n_rows, width))
    begin, end = rows.n_rows // 3, 2 * rows.n_rows // 3
    expected, before = out + matrix @ values.astype(np.float64), out.copy()
    add_rows(rows.indptr, rows.indices, values, out, begin, end)
    before[begin:end] = expected[begin:end]
    np.testing.assert_allclose(out, before, atol=1e-12)
    add_rows(rows.indptr, rows.indices, values, out, end, rows.n_rows)
    add_rows(rows.indptr, rows.indices, values, out, 0, begin)
    np.testing.assert_allclose(out, expected, atol=1e-12)


def test_groups_of_columns_have_about_equally_many_entries(generator):
    matrix = generator.integers(0, 3, (200, 40))
    csr = rows_from_dense(matrix)
    rows, columns, bounds = group_columns(csr.indptr, csr.indices, csr.n_columns, 4)
    expected = np.repeat(np.argwhere(matrix >= 0), matrix.ravel(), axis=0).tolist()
    assert sorted(np.stack([rows, columns], axis=1).tolist()) == expected
    assert np.diff(bounds).max() < 1.2 * len(rows) / 4


@settings(max_examples=40)
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
