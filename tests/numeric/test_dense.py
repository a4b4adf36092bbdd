"""A linear layer over vectors of tokens and spans, against plain loops and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from objectives import slopes_at
from spacy_cascade.numeric.dense import DenseRows, TokenVectors, width_of_units
from spacy_cascade.parallel import Workers

WORKERS = Workers(1)


@st.composite
def vectors(draw: st.DrawFn) -> TokenVectors:
    """Of some tokens, and of spans of them or of each token."""
    n_tokens, width = draw(st.integers(1, 7)), draw(st.integers(1, 3))
    values = np.random.default_rng(draw(st.integers(0, 99))).normal(size=(n_tokens, width))
    bounds = None
    if draw(st.booleans()):
        starts = st.integers(0, n_tokens - 1)
        spans = starts.flatmap(
            lambda start: st.tuples(st.just(start), st.integers(start + 1, n_tokens))
        )
        listed = draw(st.lists(spans, max_size=5))
        bounds = np.array(listed, dtype=np.int64).reshape(-1, 2)
    return TokenVectors(values.astype(np.float32), bounds)


def plain(vectors: TokenVectors) -> np.ndarray:
    """The vectors of units, one by one."""
    rows = vectors.of_tokens.astype(np.float64)
    if vectors.bounds is None:
        return rows
    found = [
        np.concatenate([rows[start], rows[end - 1], rows[start:end].mean(axis=0)])
        for start, end in vectors.bounds.tolist()
    ]
    return np.array(found).reshape(-1, 3 * rows.shape[1])


@settings(max_examples=60)
@given(vectors())
def test_units_are_their_tokens(vectors):
    expected = plain(vectors)
    found = vectors.of_units()
    assert found.shape == (
        vectors.n_units, width_of_units(vectors.of_tokens.shape[1], vectors.bounds is not None)
    )  # fmt: skip
    np.testing.assert_allclose(found, expected, atol=1e-6)
    numbers = np.arange(vectors.n_units)[::-2]
    np.testing.assert_allclose(vectors.take(numbers).of_units(), expected[numbers], atol=1e-6)


@settings(max_examples=60)
@given(vectors(), st.integers(1, 3))
def test_slopes_go_back_to_the_tokens(vectors, n_columns):
    """For a sum of scores that each have a factor, slopes are finite differences."""
    generator = np.random.default_rng(vectors.n_units)
    double = TokenVectors(vectors.of_tokens.astype(np.float64), vectors.bounds)
    width = plain(vectors).shape[1]
    weights = generator.normal(size=(width, n_columns))
    factors = generator.normal(size=(vectors.n_units, n_columns))

    def value() -> float:
        scores = np.zeros(factors.shape)
        DenseRows.of(double, 4).add_scores(weights, scores, WORKERS)
        return float((scores * factors).sum())

    rows = DenseRows.of(double, 4)
    rows.add_scores(weights, np.zeros(factors.shape), WORKERS)
    gradient = np.zeros(weights.shape)
    rows.add_gradient(factors, gradient, WORKERS)
    np.testing.assert_allclose(gradient, slopes_at(value, weights), atol=1e-6)
    np.testing.assert_allclose(rows.token_slopes(), slopes_at(value, double.of_tokens), atol=1e-6)


def test_what_is_left_out_has_no_slope(generator: np.random.Generator) -> None:
    """The others count for it, so that the mean stays."""
    values, weights = generator.normal(size=(4, 6)), generator.normal(size=(6, 2))
    is_dropped = generator.random((4, 6)) < 0.4
    kept = ~is_dropped / (1.0 - is_dropped.mean())
    rows = DenseRows.of(TokenVectors(values), 0).without(is_dropped)
    scores, factors = np.zeros((4, 2)), generator.normal(size=(4, 2))
    rows.add_scores(weights, scores, WORKERS)
    np.testing.assert_allclose(scores, (values * kept) @ weights)
    gradient = np.zeros(weights.shape)
    rows.add_gradient(factors, gradient, WORKERS)
    np.testing.assert_allclose(gradient, (values * kept).T @ factors)
    np.testing.assert_allclose(rows.token_slopes(), (factors @ weights.T) * kept)


def test_before_a_gradient_there_are_no_slopes() -> None:
    rows = DenseRows.of(TokenVectors(np.ones((3, 2), dtype=np.float32)), 0)
    np.testing.assert_array_equal(rows.token_slopes(), np.zeros((3, 2)))


def test_what_curvature_and_scaling_ask_for(generator: np.random.Generator) -> None:
    values = generator.normal(size=(5, 3)).astype(np.float32)
    rows = DenseRows.of(TokenVectors(values), 7)
    assert (rows.rows, rows.n_scored, rows.block) == (slice(7, 10), 5, 0)
    np.testing.assert_allclose(rows.counts(WORKERS), (values**2).sum(axis=0), rtol=1e-6)
    weights, gradient = generator.normal(size=(2, 3, 2))
    rows.add_scores(weights, np.zeros((5, 2)), WORKERS)
    rows.add_gradient(np.ones((5, 2)), gradient, WORKERS)
    squared = rows.squared()
    np.testing.assert_allclose(squared.values, values.astype(np.float64) ** 2)
    squared.add_gradient(np.ones((5, 2)), gradient, WORKERS)
    assert not squared.token_slopes().any(), "slopes of squares are none of the vectors"


def test_rows_of_a_batch_alone() -> None:
    rows = DenseRows.of(TokenVectors(np.ones((2, 2), dtype=np.float32)), 7)
    used = np.array([1, 4, 7, 8], dtype=np.int32)
    np.testing.assert_array_equal(rows.used_rows(), [7, 8])
    assert rows.used_rows().dtype == np.int32
    assert rows.on_rows(used).rows == slice(2, 4)


@pytest.mark.parametrize("width", [1, 5])
def test_a_long_document_keeps_its_means(width: int) -> None:
    """Means are differences of sums from the beginning of the batch."""
    n = 200_000
    values = np.ones((n, width), dtype=np.float32) * 1e3
    values[n - 1] = 0.5
    bounds = np.array([[n - 1, n]], dtype=np.int64)
    mean = TokenVectors(values, bounds).of_units()[0, 2 * width :]
    np.testing.assert_allclose(mean, 0.5, atol=1e-6)
