"""Sums over scorers, each of which has rows of the weights, and a block of their columns."""

from __future__ import annotations

import numpy as np
import pytest

from reference import dense_design, rows_from_dense
from spacy_cascade.numeric.dense import DenseRows, TokenVectors
from spacy_cascade.numeric.design import SegmentRows
from spacy_cascade.numeric.encoded import (
    Encoded,
    sum_of_counts,
    sum_of_gradients,
    sum_of_scores,
)
from spacy_cascade.parallel import Workers
from strategies import random_design

WORKERS, BLOCKS = Workers(1), [slice(0, 3), slice(3, 5)]


@pytest.fixture
def scorers(generator: np.random.Generator) -> tuple[list[Encoded], list[np.ndarray]]:
    """Two of units and one of segments; and the numbers by which each multiplies weights."""
    design, vectors = random_design(generator, 6, 4), generator.normal(size=(6, 2))
    matrix = generator.integers(0, 2, (5, 4))
    ends, lengths = np.array([0, 1, 2, 3, 4, 5, 5]), np.ones(5, dtype=np.int32)
    encoded = [
        SegmentRows(ends, lengths, rows_from_dense(matrix), 1),
        design,
        DenseRows.of(TokenVectors(vectors), 4),
    ]
    return encoded, [matrix, dense_design(design), vectors]


@pytest.mark.parametrize("n_given", [0, 1, 2])
def test_scores_of_a_block_are_added_up(n_given, scorers, generator):
    """To the arrays that there are already."""
    encoded, (of_segments, of_units, vectors) = scorers
    weights = generator.normal(size=(6, 5))
    given = [generator.normal(size=shape) for shape in ((6, 3), (5, 2))][:n_given]
    before = [*(array.copy() for array in given), 0.0, 0.0]
    units, segments = sum_of_scores(encoded, weights, BLOCKS, WORKERS, *given)
    expected = of_units @ weights[:4, :3] + vectors @ weights[4:, :3]
    np.testing.assert_allclose(units, before[0] + expected)
    np.testing.assert_allclose(segments, before[1] + of_segments @ weights[:4, 3:])
    assert all(found is array for found, array in zip((units, segments), given, strict=False))


def test_each_scorer_has_the_gradient_of_its_rows(scorers, generator):
    """Those that no scorer has are zero, whatever was there."""
    encoded, (of_segments, of_units, vectors) = scorers
    units, segments = generator.normal(size=(6, 3)), generator.normal(size=(5, 2))
    found, expected = np.full((7, 5), np.nan), np.zeros((7, 5))
    sum_of_gradients(encoded, [units, segments], BLOCKS, WORKERS, found)
    expected[:4, :3], expected[:4, 3:] = of_units.T @ units, of_segments.T @ segments
    expected[4:6, :3] = vectors.T @ units
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_counts_are_of_all_scorers(scorers):
    encoded, (of_segments, of_units, vectors) = scorers
    of_features = of_segments.sum(axis=0) + of_units.sum(axis=0)
    expected = np.append(of_features, (vectors**2).sum(axis=0))
    np.testing.assert_allclose(sum_of_counts(encoded, WORKERS), expected)
