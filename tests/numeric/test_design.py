"""The factored design matrix against the same matrix multiplied out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import dense_design, dense_rows, rows_from_dense
from spacy_cascade.numeric.design import Design
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
    np.testing.assert_allclose(design.scores(weights, workers), matrix @ weights, atol=1e-12)
    np.testing.assert_allclose(design.gradient(slopes, workers), matrix.T @ slopes, atol=1e-12)
    # The sums are kept and used again.
    np.testing.assert_allclose(design.gradient(slopes, workers), matrix.T @ slopes, atol=1e-12)
    np.testing.assert_array_equal(design.counts(workers), matrix.sum(axis=0))
    assert design.n_units == len(matrix)


def test_inputs_are_left_alone(generator):
    design = random_design(generator, 20, 6)
    weights = generator.normal(size=(6, 2))
    slopes = generator.normal(size=(20, 2))
    before = weights.copy(), slopes.copy()
    design.scores(weights, Workers(1))
    design.gradient(slopes, Workers(1))
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
        design.scores(weights, Workers(threads)), design.scores(weights, Workers(1))
    )
    np.testing.assert_array_equal(
        design.gradient(slopes, Workers(threads)), design.gradient(slopes, Workers(1))
    )


@given(counts2d(st.integers(0, 6), st.integers(1, 5)), st.data())
def test_some_of_the_rows(matrix, data):
    wanted = data.draw(st.lists(st.integers(0, max(len(matrix) - 1, 0)), max_size=8))
    wanted = wanted if len(matrix) else []
    rows = rows_from_dense(matrix).take(np.array(wanted, dtype=np.int64))
    np.testing.assert_array_equal(dense_rows(rows), matrix[wanted])
