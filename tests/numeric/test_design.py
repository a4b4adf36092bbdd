"""The factored design matrix against the same matrix multiplied out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import dense_design, dense_rows, gradient_of, rows_from_dense, scores_of
from spacy_cascade.numeric.design import Design, SegmentRows
from spacy_cascade.parallel import Workers
from strategies import counts2d, random_design


@st.composite
def designs(draw: st.DrawFn) -> Design:
    units, lexemes, features = (draw(st.integers(0, 5)) for _ in range(3))
    return Design(
        rows_from_dense(draw(counts2d(st.just(lexemes), st.just(features)))),
        rows_from_dense(draw(counts2d(st.just(units), st.just(lexemes)))),
        rows_from_dense(draw(counts2d(st.just(units), st.just(features)))),
    )


@given(designs(), st.integers(1, 3))
def test_scores_and_gradient_are_products(design, width):
    matrix = dense_design(design)
    generator = np.random.default_rng(matrix.size)
    weights = generator.normal(size=(matrix.shape[1], width))
    slopes = generator.normal(size=(matrix.shape[0], width))
    workers = Workers(1)
    np.testing.assert_allclose(scores_of(design, weights, workers), matrix @ weights, atol=1e-12)
    np.testing.assert_allclose(gradient_of(design, slopes, workers), matrix.T @ slopes, atol=1e-12)
    # The sums are kept and used again.
    np.testing.assert_allclose(gradient_of(design, slopes, workers), matrix.T @ slopes, atol=1e-12)
    np.testing.assert_array_equal(design.counts(workers), matrix.sum(axis=0))
    assert design.n_scored == len(matrix)


def test_inputs_are_left_alone(generator):
    design = random_design(generator, 20, 6)
    weights = generator.normal(size=(6, 2))
    slopes = generator.normal(size=(20, 2))
    before = weights.copy(), slopes.copy()
    scores_of(design, weights, Workers(1))
    gradient_of(design, slopes, Workers(1))
    np.testing.assert_array_equal(weights, before[0])
    np.testing.assert_array_equal(slopes, before[1])


@pytest.mark.parametrize("threads", [2, 3])
def test_same_bits_for_any_number_of_threads(threads, generator):
    n_units, n_features = 9000, 300
    rows = generator.integers(0, 2, (500, n_features))
    # Units all look at lexemes by number, so that there is enough to cut into pieces.
    lexemes = np.zeros((n_units, 500), dtype=np.int64)
    lexemes[np.arange(n_units), generator.integers(0, 500, n_units)] = 1
    none = np.zeros((n_units, n_features), dtype=np.int64)
    design = Design(*map(rows_from_dense, (rows, lexemes, none)))
    weights = generator.normal(size=(n_features, 3))
    slopes = generator.normal(size=(n_units, 3))
    np.testing.assert_array_equal(
        scores_of(design, weights, Workers(threads)), scores_of(design, weights, Workers(1))
    )
    np.testing.assert_array_equal(
        gradient_of(design, slopes, Workers(threads)), gradient_of(design, slopes, Workers(1))
    )


@given(counts2d(st.integers(0, 6), st.integers(1, 5)), st.data())
def test_some_of_the_rows(matrix, data):
    wanted = data.draw(st.lists(st.integers(0, max(len(matrix) - 1, 0)), max_size=8))
    wanted = wanted if len(matrix) else []
    rows = rows_from_dense(matrix).take(np.array(wanted, dtype=np.int64))
    np.testing.assert_array_equal(dense_rows(rows), matrix[wanted])


@given(designs())
def test_features_of_units_in_one_matrix(design):
    np.testing.assert_array_equal(dense_rows(design.active_features()), dense_design(design))


def test_a_gradient_is_added_to_what_there_is(generator):
    design = random_design(generator, 400, 40)
    rows = np.tile(np.arange(400), 40)
    design.unit_lexemes, design.unit_features = (
        matrix.take(rows) for matrix in (design.unit_lexemes, design.unit_features)
    )
    slopes = generator.normal(size=(len(rows), 3))
    out = np.zeros((40, 3))
    for times in (1, 2):
        design.add_gradient(slopes, out, Workers(1))
        np.testing.assert_allclose(out, times * dense_design(design).T @ slopes, atol=1e-9)


@given(counts2d(st.integers(0, 4), st.just(3)), counts2d(st.integers(0, 4), st.just(3)))
def test_rows_after_others(first, second):
    rows = rows_from_dense(first).append(rows_from_dense(second))
    np.testing.assert_array_equal(dense_rows(rows), np.concatenate([first, second]))


def test_segments_of_units(generator):
    """Segments of up to two units that end at each of three, against sums over their features."""
    matrix = generator.integers(0, 2, (5, 4))
    ends, length = np.array([0, 1, 3, 5]), np.array([1, 1, 2, 1, 2], dtype=np.int32)
    rows = SegmentRows(ends, length, rows_from_dense(matrix), 2)
    assert rows.bounds.tolist() == [[0, 1], [1, 2], [0, 2], [2, 3], [1, 3]]
    weights, slopes = generator.normal(size=(4, 2)), generator.normal(size=(5, 2))
    np.testing.assert_allclose(scores_of(rows, weights, Workers(1)), matrix @ weights)
    found = gradient_of(rows, slopes, Workers(1))
    np.testing.assert_allclose(found, matrix.T @ slopes)


def test_features_of_segments_are_counted(generator):
    matrix = generator.integers(0, 2, (3, 4))
    ends, length = np.array([0, 1, 2, 3, 3, 3, 3]), np.ones(3, dtype=np.int32)
    rows = SegmentRows(ends, length, rows_from_dense(matrix), 1)
    np.testing.assert_array_equal(rows.counts(Workers(1)), matrix.sum(axis=0))


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
