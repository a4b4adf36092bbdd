"""The factored design matrix, and sums of sparse rows, against dense matrices."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numba import config

from reference import dense_design, dense_rows, gradient_of, rows_from_dense, scores_of
from spacy_cascade.errors import ConfigError
from spacy_cascade.numeric import csr
from spacy_cascade.numeric.csr import (
    BinaryCSR,
    add_rows,
    add_transposed_products,
    scale_and_mix,
    used_columns,
)
from spacy_cascade.numeric.design import Design, SegmentRows, only_design
from spacy_cascade.parallel import Workers
from strategies import counts2d, random_design, wide_design

IS_PLAIN = bool(config.DISABLE_JIT)  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def stored(monkeypatch: pytest.MonkeyPatch) -> list[range]:
    """The columns of each group that kernels write side by side, where they are not compiled.

    All are in one row: NumPy would leave out those that are not.
    """
    found: list[range] = []

    def columns(array: np.ndarray, index: tuple[int, ...], n: int) -> range:
        assert min(index) >= 0
        assert index[-1] + n <= array.shape[-1]
        return range(index[-1], index[-1] + n)

    def load(array: np.ndarray, index: tuple[int, ...], n: int) -> Any:
        return columns(array, index, n) and loads(array, index, n)

    def store(array: np.ndarray, index: tuple[int, ...], lanes: Any) -> None:
        found.append(columns(array, index, len(lanes)))
        stores(array, index, lanes)

    if IS_PLAIN:
        loads, stores = csr.load, csr.store
        monkeypatch.setattr(csr, "load", load)
        monkeypatch.setattr(csr, "store", store)
    return found


@pytest.mark.skipif(not IS_PLAIN, reason="nobody sees what compiled kernels write")
@pytest.mark.parametrize("width", [3, 4, 7, 8, 13, 16, 21, 40])
def test_columns_are_added_up_side_by_side(width: int, stored: list[range]) -> None:
    """But for three at most."""
    one, values = rows_from_dense(np.ones((1, 1), dtype=np.int64)), np.ones((1, width))
    for add in (
        lambda out: add_rows(one.indptr, one.indices, values, out, 0, 1),
        lambda out: add_transposed_products([(one, values, out)], Workers(1)),
    ):
        stored.clear()
        add(np.zeros((1, width)))
        assert len({column for group in stored for column in group}) >= width - 3
        assert len(stored) <= 2 + width // 8


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
    active = design.active_features()
    np.testing.assert_array_equal(dense_rows(active), matrix)
    assert (active.indptr[0], len(active.indices)) == (0, matrix.sum())
    assert design.n_scored == len(matrix)
    assert design.squared() is design
    used = design.used_rows()
    parts = [dense_rows(part) for part in (design.lexeme_features, design.unit_features)]
    np.testing.assert_array_equal(used, np.flatnonzero(np.concatenate(parts).any(axis=0)))
    fewer = design.on_rows(used)
    assert fewer.rows == slice(0, len(used))
    np.testing.assert_array_equal(dense_rows(fewer.active_features()), matrix[:, used])


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
    """Segments of up to two units that end at each of three, against sums over their features.

    A feature that none of them has counts nothing, and its weights may be missing.
    """
    matrix = generator.integers(0, 2, (5, 4))
    matrix[:, 1:3], matrix[:, 3] = 1, 0
    ends, length = np.array([0, 1, 3, 5]), np.array([1, 1, 2, 1, 2], dtype=np.int32)
    rows = SegmentRows(ends, length, rows_from_dense(matrix), 2)
    assert rows.bounds.tolist() == [[0, 1], [1, 2], [0, 2], [2, 3], [1, 3]]
    weights, slopes = generator.normal(size=(4, 2)), generator.normal(size=(5, 2))
    np.testing.assert_allclose(scores_of(rows, weights, Workers(1)), matrix @ weights)
    np.testing.assert_allclose(gradient_of(rows, slopes, Workers(1)), matrix.T @ slopes)
    np.testing.assert_array_equal(rows.counts(Workers(1)), matrix.sum(axis=0))
    numbers = np.array([0, 1, 2], dtype=np.int32)
    np.testing.assert_array_equal(rows.used_rows(), np.flatnonzero(matrix.any(axis=0)))
    fewer = rows.on_rows(numbers)
    assert (fewer.rows, fewer.longest) == (slice(0, 3), 2)
    np.testing.assert_allclose(scores_of(fewer, weights[:3], Workers(1)), matrix @ weights)
    assert fewer.bounds.tolist() == rows.bounds.tolist()
    assert rows.squared() is rows


def test_who_knows_features_of_units_alone_refuses_others(generator):
    design = random_design(generator, 3, 2)
    assert only_design([design], "This") is design
    segments = SegmentRows(np.zeros(4, np.int64), np.zeros(0, np.int32), design.unit_features, 1)
    for encoded in ([], [segments], [design, segments], [design, design]):
        with pytest.raises(ConfigError, match=r"^This goes .* Choose another \[model\]"):
            only_design(encoded, "This")


class Counted(Workers):
    """Threads that say how many pieces of work they had each time."""

    def map(self, function: Any, bounds: Any) -> None:
        self.n_pieces = len(bounds)
        super().map(function, bounds)


def test_work_is_divided_among_threads(generator):
    """Products by rows, if there are several threads; transposed ones by eight columns or more."""
    rows, values = BinaryCSR(np.arange(40_001), np.zeros(40_000, np.int32), 1), np.ones((1, 2))
    for n_threads, n_pieces in ((1, 1), (2, 9), (3, 9)):
        workers = Counted(n_threads)
        rows.add_product(values, np.zeros((40_000, 2)), workers)
        assert workers.n_pieces == n_pieces
    few = rows_from_dense(np.ones((2, 2), dtype=np.int64))
    for n_threads, width, n_pieces in ((3, 7, 2), (3, 16, 4), (3, 99, 6), (1, 99, 2)):
        workers, outs = Counted(n_threads), np.zeros((2, 2, width))
        add_transposed_products([(few, np.ones((2, width)), out) for out in outs], workers)
        assert workers.n_pieces == n_pieces
        assert (outs == 2.0).all()


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


MATRICES = counts2d(st.integers(0, 6), st.integers(1, 5))


@settings(max_examples=40)
@given(MATRICES, st.integers(1, 40), st.sampled_from([np.float32, np.float64]), st.booleans())
def test_add_rows_is_a_product(matrix, width, dtype, by_columns):
    """Values may be single precision, read-only, and lie in memory column by column.

    A range of rows is written, and no other.
    """
    rows = rows_from_dense(matrix)
    generator = np.random.default_rng(len(matrix))
    values = generator.normal(size=(rows.n_columns, width)).astype(dtype)
    values = np.asfortranarray(values) if by_columns else values
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


@settings(max_examples=40)
@given(MATRICES, st.integers(1, 40), st.integers(1, 4))
@example(np.ones((2, 3), dtype=np.int64), 40, 2)
@example(np.ones((2, 3), dtype=np.int64), 69, 3)
def test_transposed_products_are_those_of_one_thread(matrix, width, n_threads):
    """To the last bit, of several matrices at once, however many columns values have."""
    csr, generator = rows_from_dense(matrix), np.random.default_rng(len(matrix))
    values = generator.normal(size=(csr.n_rows, width))
    before = generator.normal(size=(2, csr.n_columns, width))
    found = before.copy()
    sums = [(csr, values, found[0]), (csr, 2.0 * values, found[1])]
    add_transposed_products(sums, Workers(n_threads))
    np.testing.assert_allclose(found[0], before[0] + matrix.T @ values, atol=1e-12)
    one_by_one = before.copy()
    for factor, out in enumerate(one_by_one, 1):
        for row, of_row in zip(matrix, factor * values, strict=True):
            for column in np.repeat(np.arange(len(row)), row):
                out[column] += of_row
    np.testing.assert_array_equal(found, one_by_one)


@pytest.mark.parametrize("sizes", [[3], [2, 1], [8], [3, 2, 4], [1] * 13, [9, 1, 1, 10]])
def test_scale_and_mix(sizes, generator, stored):
    """Where the mixing is zero off blocks along the diagonal, of columns of these sizes."""
    n, ends = sum(sizes), np.cumsum(sizes)
    blocks = np.repeat(np.column_stack([ends - sizes, ends]), sizes, axis=0)
    values, scale = generator.normal(size=(7, n)), generator.normal(size=7)
    mixing = generator.normal(size=(n, n))
    for column, (first, last) in zip(mixing.T, blocks, strict=True):
        column[:first] = column[last:] = 0.0
    expected, out = scale[:, None] * (values @ mixing), np.full((7, n), np.nan)
    scale_and_mix(values, scale, mixing, blocks, out, 0, 3)
    np.testing.assert_allclose(out[:3], expected[:3])
    assert np.isnan(out[3:]).all()
    scale_and_mix(values, scale, mixing, blocks, out, 3, 7)
    np.testing.assert_allclose(out, expected)
    stored.clear()
    scale_and_mix(values, scale, mixing, blocks, values, 0, 7)
    np.testing.assert_array_equal(values, out)
    if IS_PLAIN:
        assert len(stored) == (7 * ceil(n / 8) if n >= 8 else 0), "eight columns at once"
