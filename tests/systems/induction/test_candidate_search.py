"""The search for candidates against one by enumeration, with dense matrices."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from reference import dense_rows, rows_from_dense
from spacy_cascade.numeric.csr import BinaryCSR
from spacy_cascade.parallel import Workers
from spacy_cascade.systems.induction.candidates import (
    AtomicTests,
    Candidate,
    Conjunction,
    HardUnits,
    Search,
    choose,
    hard_units,
    rows_of,
    transposed,
)
from strategies import counts2d

Array = npt.NDArray[Any]
PRECISION = 0.5


@dataclass
class Twin:
    """The same search. matrix `[I, K]`: whether a test holds in a unit."""

    matrix: Array
    marginals: Array
    observed: Array
    joins: Array
    in_model: list[Conjunction]
    min_count: int

    def units(self, tests: Conjunction) -> Array:
        return np.asarray(self.matrix[:, list(tests)].all(axis=1))

    def second_order(self, units: Array) -> float:
        slopes = (self.observed - self.marginals)[units].sum(axis=0)
        curvatures = (self.marginals * (1 - self.marginals))[units].sum(axis=0) + PRECISION
        return float((slopes**2 / (2 * curvatures)).sum())

    def candidate(self, tests: Conjunction) -> Candidate:
        """Its gains by a root of the slope, label by label."""
        units, weights, gains = self.units(tests), [], []
        for a in range(self.marginals.shape[1]):
            p, o = self.marginals[units, a], self.observed[units, a]

            def slope(mu: float, p: Array = p, o: Array = o) -> float:
                odds = p * np.exp(mu)
                return float((o - odds / (1 - p + odds)).sum() - mu * PRECISION)

            mu = brentq(slope, -50.0, 50.0, xtol=1e-12)
            weights.append(mu)
            gains.append(
                (mu * o - np.log1p(p * np.expm1(mu))).sum() - 0.5 * PRECISION * mu**2
            )  # fmt: skip
        best = int(np.argmax(gains))
        return Candidate(tests, float(sum(gains)), best, weights[best])

    def singles(self, n: int) -> list[Candidate]:
        numbers = range(self.matrix.shape[1])
        frequent = [t for t in numbers if self.matrix[:, t].sum() >= self.min_count]
        frequent.sort(key=lambda t: -self.second_order(self.units((t,))))
        kept = [(t,) for t in frequent[: 4 * n + len(self.in_model)] if (t,) not in self.in_model]
        return sorted(map(self.candidate, kept), key=lambda c: (-c.gain, c.tests))

    def best(self, n: int, longest: int | None) -> list[Candidate]:
        singles = self.singles(n)
        parents = [
            tests
            for tests in (*self.in_model, *(c.tests for c in singles[:n]))
            if self.joins[list(tests)].all() and len(tests) < (longest or 99)
        ]
        pairs = []
        for f, tests in enumerate(parents):
            of_parent = self.units(tests)
            for t in np.flatnonzero(self.joins).tolist():
                both = of_parent & self.units((t,))
                gain = self.second_order(both)
                if self.min_count <= both.sum() < of_parent.sum() and gain > 0.5:
                    pairs.append((-gain, f, t, tuple(sorted({*tests, t}))))
        joined: list[Conjunction] = []
        for *_, tests in sorted(pairs)[: 8 * n]:
            if tests not in joined and tests not in self.in_model:
                joined.append(tests)
        found = [*singles, *map(self.candidate, joined[: 4 * n])]
        found.sort(key=lambda c: (-c.gain, len(c.tests), c.tests))
        seen = [self.units(tests).tolist() for tests in self.in_model]
        kept = []
        for candidate in found:
            units = self.units(candidate.tests).tolist()
            if len(candidate.tests) == 1 or units not in seen:
                kept.append(candidate)
            seen.append(units)
        return kept


def single_templates(n: int, joins: Array) -> AtomicTests:
    parts = [frozenset([f"part {i}"]) for i in range(n)]
    return AtomicTests(np.arange(n, dtype=np.int32), joins, parts)


def random_search(
    generator: np.random.Generator, n_tests: int, in_model: list[Conjunction], min_count: int
) -> tuple[Search, Twin]:
    """Labels that depend on tests. The tests of a unit are in no order.

    Some tests are copies, one is a conjunction of two others, one is as rare as it may be, and the
    last but one cannot join.
    """
    n_units, n_labels = 60, 3
    matrix = generator.random((n_units, n_tests)) < generator.uniform(0.05, 0.7, n_tests)
    matrix[:, -1] = matrix[:, 0]
    copies = range(n_tests)[20:25]
    matrix[:, copies] = matrix[:, : len(copies)]
    matrix[:, 5] = matrix[:, 0] & matrix[:, 1]
    matrix[:, 6] = np.arange(n_units) < min_count
    labels = (matrix[:, 0] & matrix[:, 1]) + (matrix[:, 2] ^ matrix[:, 3])
    marginals = generator.dirichlet(np.ones(n_labels), size=n_units)
    observed = np.eye(n_labels)[labels.astype(int)]
    joins = np.arange(n_tests) != n_tests - 2
    rows = rows_from_dense(matrix.astype(np.int64))
    for begin, end in pairwise(rows.indptr):
        generator.shuffle(rows.indices[begin:end])
    units = HardUnits(rows, marginals, observed, PRECISION)
    tests = single_templates(n_tests, joins)
    search = Search(units, tests, in_model, min_count, Workers(1))
    return search, Twin(matrix, marginals, observed, joins, in_model, min_count)


@pytest.mark.parametrize(
    ("n_tests", "in_model", "min_count", "n", "longest"),
    [
        (9, [], 1, 50, None),
        (9, [(0,), (2, 3)], 3, 50, None),
        (9, [(0,), (2, 3)], 3, 50, 2),
        (9, [(1,), (2,), (0, 1)], 4, 50, 1),
        (9, [(7,), (2, 4, 5)], 2, 3, None),
        (30, [], 2, 1, None),
        (30, [(3,), (5,), (1, 2)], 3, 2, None),
        (30, [(3,), (5,), (1, 2)], 6, 4, 2),
        (30, [(21,), (0,), (2, 3)], 4, 1, None),
        (9, [(2, 7)], 2, 50, None),
        (30, [(20,), (22,)], 1, 1, None),
        (30, [(0,), (20,), (29,), (18,), (2, 18)], 2, 2, None),
    ],
)
def test_the_search_is_that_of_the_twin(
    n_tests: int, in_model: list[Conjunction], min_count: int, n: int, longest: int | None,
    generator: np.random.Generator,
) -> None:  # fmt: skip
    """With few wanted the best to second order alone are looked at further."""
    search, twin = random_search(generator, n_tests, in_model, min_count)
    found, expected = search.best(n, longest), twin.best(n, longest)
    assert [c.tests for c in found] == [c.tests for c in expected]
    assert [c.label for c in found] == [c.label for c in expected]
    for field in ("gain", "weight"):
        np.testing.assert_allclose(
            [getattr(c, field) for c in found], [getattr(c, field) for c in expected], atol=1e-5
        )
    assert any(len(c.tests) > 1 for c in found) == (longest != 1)


def test_gains_of_tests_to_second_order(generator: np.random.Generator) -> None:
    _, twin = random_search(generator, 9, [], 1)
    rows = rows_from_dense(twin.matrix.astype(np.int64))
    units = HardUnits(rows, twin.marginals, twin.observed, PRECISION)
    expected = [twin.second_order(twin.units((test,))) for test in range(9)]
    np.testing.assert_allclose(units.gains_of_tests(transposed(rows), Workers(1)), expected)


def test_of_those_that_gain_as_much_the_first_ones_are_taken() -> None:
    """Conjunctions too: units have their tests in falling order. Of two tests there are copies."""
    units = np.arange(48)
    one, other, noise = units % 2 == 0, units < 30, units % 3 == 0
    matrix = np.stack([*100 * [other, noise], one], axis=1)
    rows = rows_from_dense(matrix.astype(np.int64))
    for begin, end in pairwise(rows.indptr):
        rows.indices[begin:end] = rows.indices[begin:end][::-1].copy()
    marginals, observed = np.tile([0.7, 0.3], (48, 1)), np.eye(2)[(one & other).astype(int)]
    hard = HardUnits(rows, marginals, observed, PRECISION)
    tests = single_templates(201, np.ones(201, np.bool_))
    found = Search(hard, tests, [], 1, Workers(1)).best(1, None)
    assert [c.tests for c in found] == [(0, 200), (200,), (0,), (2,), (4,)]


def test_no_tests_that_could_join_and_no_units() -> None:
    nothing = BinaryCSR(np.zeros(1, np.int64), np.zeros(0, np.int32), 2)
    units = HardUnits(nothing, np.zeros((0, 3)), np.zeros((0, 3)), PRECISION)
    joins = np.zeros(2, dtype=np.bool_)
    assert Search(units, single_templates(2, joins), [], 1, Workers(1)).best(5, None) == []


def test_units_whose_label_is_not_sure_are_hard(generator: np.random.Generator) -> None:
    """A probability of just the certainty is not enough; labels of -1 are not known."""
    matrix = (generator.random((5, 3)) < 0.6).astype(np.int64)
    marginals = np.array([[0.5, 0.5], [0.4, 0.6], [0.9, 0.1], [0.1, 0.9], [0.0, 1.0]])
    labels = np.array([0, 1, 1, -1, 0], dtype=np.int32)
    units = hard_units(rows_from_dense(matrix), marginals, labels, 0.5, 2.0)
    hard = [0, 2, 4]
    np.testing.assert_array_equal(units.marginals, marginals[hard])
    np.testing.assert_array_equal(units.observed, [[1, 0], [0, 1], [1, 0]])
    expected = rows_from_dense(matrix[hard])
    np.testing.assert_array_equal(units.tests.indptr, expected.indptr)
    np.testing.assert_array_equal(units.tests.indices, expected.indices)
    assert units.precision == 2.0


def candidates(**gains: float) -> list[Candidate]:
    """Of conjunctions whose tests are the digits of a name."""
    return [Candidate(tuple(map(int, name[1:])), gain, 0, 0.0) for name, gain in gains.items()]


A, B, C, AB, AC, BC = (frozenset(parts) for parts in ("a", "b", "c", "ab", "ac", "bc"))
TESTS = AtomicTests(
    np.array([0, 0, 1, 1, 2], np.int32), np.ones(5, np.bool_), [A, B, C]
)  # fmt: skip
"""Tests 0 and 1 are of template a, 2 and 3 of b, 4 of c."""
FOUND = candidates(_4=9.0, _02=5.0, _04=4.0, _14=3.0, _24=2.0, _0=1.0)
"""Of c; ab; ac twice, 7 together; bc; a."""


@pytest.mark.parametrize(
    ("n", "admitted", "n_templates", "chosen"),
    [
        (9, {A, B, C}, 0, [(4,), (0,)]),
        (9, {A, B, C}, 1, [(4,), (0, 4), (1, 4), (0,)]),
        (9, {A, B, C}, 2, [(4,), (0, 2), (0, 4), (1, 4), (0,)]),
        (2, {A, B, C}, 2, [(4,), (0, 2)]),
        (9, {A, B, C, BC}, 1, [(4,), (0, 4), (1, 4), (2, 4), (0,)]),
        (9, {A, B, C, AC}, 1, [(4,), (0, 2), (0, 4), (1, 4), (0,)]),
        (9, set(), 1, [(4,), (0, 4), (1, 4), (0,)]),
        (0, {A, B, C}, 1, []),
    ],
)
def test_templates_that_gain_most_in_all_are_admitted(
    n: int, admitted: set[frozenset[str]], n_templates: int, chosen: list[Conjunction]
) -> None:
    """Tests need no admission, and what was admitted before takes none of the places."""
    before, admitted = admitted, set(admitted)
    assert [c.tests for c in choose(FOUND, TESTS, n, admitted, n_templates)] == chosen
    others = [template for template in (AC, AB, BC) if template not in before]
    assert admitted - before == set(others[:n_templates])
    assert before <= admitted


@settings(max_examples=50)
@given(counts2d(st.integers(0, 8), st.integers(1, 5)), st.data())
def test_a_conjunction_holds_where_all_of_its_tests_do(matrix: Array, data: st.DataObject) -> None:
    """And the units of a test are in order, each once, however often it has the test."""
    columns = st.lists(st.integers(0, matrix.shape[1] - 1), min_size=1, max_size=4)
    conjunctions = [tuple(each) for each in data.draw(st.lists(columns, max_size=4))]
    units = transposed(rows_from_dense(matrix))
    np.testing.assert_array_equal(dense_rows(units), (matrix > 0).T)
    for row in range(units.n_rows):
        assert (np.diff(units.indices[units.indptr[row] : units.indptr[row + 1]]) > 0).all()
    found = rows_of(units, conjunctions)
    expected = [(matrix[:, tests] > 0).all(axis=1) for tests in conjunctions]
    shape = len(conjunctions), len(matrix)
    np.testing.assert_array_equal(dense_rows(found), np.reshape(expected, shape))
    for each in (units, found):
        assert (each.indptr[0], each.indptr[-1]) == (0, len(each.indices))
        assert (each.indptr.dtype, each.indices.dtype) == (np.int64, np.int32)
