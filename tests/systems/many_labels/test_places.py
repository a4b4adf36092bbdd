"""Weights at few places against the same weights in a whole array."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_cascade.numeric.csr import BinaryCSR
from spacy_cascade.systems.many_labels.places import (
    Places,
    add_from_crowded,
    add_placed_rows,
    add_to_places,
    crowded_rows,
    nonzero_places,
    seen_places,
)

N_FEATURES, WIDTH = 9, 23
SHARES = [0.0, 0.1, 0.5, 1.0]
"""Of the weights that are there; rows with half of them are crowded."""


def random_weights(generator: np.random.Generator, share: float) -> np.ndarray:
    is_there = generator.random((N_FEATURES, WIDTH)) < share * generator.random((N_FEATURES, 1)) * 2
    return np.where(is_there, generator.normal(size=is_there.shape), 0.0)


def random_units(generator: np.random.Generator, n: int = 40) -> BinaryCSR:
    """Units with some of the features; one may be there twice."""
    lengths = generator.integers(0, 8, n)
    indptr = np.cumsum([0, *lengths], dtype=np.int64)
    indices = generator.integers(0, N_FEATURES, indptr[-1]).astype(np.int32)
    return BinaryCSR(indptr, indices, N_FEATURES)


def dense(units: BinaryCSR) -> np.ndarray:
    rows = np.zeros((units.n_rows, units.n_columns))
    of_entries = np.repeat(np.arange(units.n_rows), np.diff(units.indptr))
    np.add.at(rows, (of_entries, units.indices), 1.0)
    return rows


def pairs(places: Places) -> list[tuple[int, int]]:
    return list(zip(places.rows.tolist(), places.columns.tolist(), strict=True))


@pytest.mark.parametrize("share", SHARES)
def test_places_of_weights_that_are_not_zero(generator: np.random.Generator, share: float) -> None:
    weights = random_weights(generator, share)
    places = nonzero_places(weights)
    assert pairs(places) == list(zip(*(each.tolist() for each in weights.nonzero()), strict=True))
    np.testing.assert_array_equal(places.spread(places.taken_from(weights)), np.float32(weights))
    is_crowded = (weights != 0).mean(axis=1) > 0.2
    np.testing.assert_array_equal(places.crowded >= 0, is_crowded)
    assert places.n_crowded == is_crowded.sum()
    assert {each.dtype for each in (places.rows, places.columns, places.crowded)} == {
        np.dtype("i4")
    }


def test_a_row_is_crowded_with_more_than_a_fifth_of_its_columns() -> None:
    assert nonzero_places(np.tri(6, 20)).crowded.tolist() == [-1, -1, -1, -1, 0, 1]


def test_seen_places(generator: np.random.Generator) -> None:
    units = random_units(generator)
    columns = generator.integers(-1, WIDTH, units.n_rows).astype(np.int32)
    seen = {
        (feature, column)
        for i, column in enumerate(columns.tolist())
        for feature in units.indices[units.indptr[i] : units.indptr[i + 1]].tolist()
        if column >= 0
    }
    assert pairs(seen_places(units, columns, WIDTH)) == sorted(seen)
    others = nonzero_places(random_weights(generator, 0.1))
    both = seen_places(units, columns, WIDTH, others)
    assert pairs(both) == sorted(seen | set(pairs(others)))


@pytest.mark.parametrize("share", SHARES)
def test_sums_of_rows_and_of_columns(generator: np.random.Generator, share: float) -> None:
    units, weights = random_units(generator), random_weights(generator, share)
    places = nonzero_places(weights)
    values, begin, n = places.taken_from(weights), 7, 30
    rows = dense(units)[begin : begin + n]
    scores = generator.normal(size=(n, WIDTH))
    expected = scores + rows @ weights
    crowded = crowded_rows(places, values)
    add_placed_rows(units.indptr, units.indices, places, values, crowded, scores, begin)
    np.testing.assert_allclose(scores, expected, rtol=1e-13, atol=1e-13)
    gradient = generator.normal(size=len(places.columns))
    expected = gradient + places.taken_from(rows.T @ scores)
    crowded = np.zeros((places.n_crowded, WIDTH))
    add_to_places(units.indptr, units.indices, places, scores, gradient, crowded, begin)
    add_from_crowded(places, crowded, gradient)
    np.testing.assert_allclose(gradient, expected, rtol=1e-12, atol=1e-12)
