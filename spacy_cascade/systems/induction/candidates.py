"""Candidate features of a round of induction: tests, and conjunctions with tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ...caching import cached_property
from ...jit import kernel
from ...numeric.csr import BinaryCSR
from ...parallel import Workers, split
from ...types import Bools1d, Floats1d, Floats2d, Ints1d, Pointers1d
from .gains import newton_gains, screen

Conjunction: TypeAlias = tuple[int, ...]
"""Numbers of tests, in ascending order."""
Parts: TypeAlias = frozenset[Any]
"""The parts of a template, whatever they are."""
_SCREENED = 4
"""So many times as many candidates as are wanted get their gain by Newton's method."""


@kernel
def _transposed(indptr: Pointers1d, indices: Ints1d, n_columns: int) -> tuple[Pointers1d, Ints1d]:
    """Rows of the transposed matrix; an entry that a row repeats is there once."""
    latest = np.full(n_columns, -1, dtype=np.int64)
    starts = np.zeros(n_columns + 1, dtype=np.int64)
    for row in range(len(indptr) - 1):
        for i in range(indptr[row], indptr[row + 1]):
            if latest[indices[i]] != row:
                latest[indices[i]] = row
                starts[indices[i] + 1] += 1
    starts = np.cumsum(starts)
    places, rows = starts[:-1].copy(), np.empty(starts[-1], dtype=np.int32)
    latest[:] = -1
    for row in range(len(indptr) - 1):
        for i in range(indptr[row], indptr[row + 1]):
            column = indices[i]
            if latest[column] != row:
                latest[column] = row
                rows[places[column]] = row
                places[column] += 1
    return starts, rows


def transposed(matrix: BinaryCSR) -> BinaryCSR:
    """The rows `[n_columns, n_rows]` in ascending order; what a row repeats counts once.

    Of a matrix of units by features they are the units that have each feature.
    """
    indptr, indices = _transposed(matrix.indptr, matrix.indices, matrix.n_columns)
    return BinaryCSR(indptr, indices, matrix.n_rows)


def rows_of(units_of_tests: BinaryCSR, conjunctions: Sequence[Conjunction]) -> BinaryCSR:
    """The units that have all tests of each conjunction, given those that have each test."""
    indptr, indices = units_of_tests.indptr, units_of_tests.indices
    found = [np.zeros(0, dtype=np.int32)]
    for tests in conjunctions:
        lists = sorted((indices[indptr[t] : indptr[t + 1]] for t in tests), key=len)
        units = lists[0]
        for others in lists[1:]:
            place = np.minimum(np.searchsorted(others, units), len(others) - 1)
            units = units[others[place] == units]
        found.append(units)
    pointers = np.cumsum([len(units) for units in found], dtype=np.int64)
    return BinaryCSR(pointers, np.concatenate(found), units_of_tests.n_columns)


@dataclass(frozen=True)
class AtomicTests:
    """What is known of the tests `[K]` that features are made of.

    template: the template of each. joins: whether it can be part of a conjunction. parts: those of
    each template.
    """

    template: Ints1d
    joins: Bools1d
    parts: Sequence[Parts]

    def template_of(self, conjunction: Conjunction) -> Parts:
        """The parts of the template that a conjunction is an instance of."""
        parts: Parts = frozenset()
        return parts.union(*(self.parts[self.template[test]] for test in conjunction))


@dataclass(frozen=True)
class HardUnits:
    """Units that the model gets wrong.

    tests `[I, K]`: of each. marginals, observed `[I, Y]`: probabilities of labels, by the model
    and given the annotation. precision: `1/σ²` of a new weight.
    """

    tests: BinaryCSR
    marginals: Floats2d
    observed: Floats2d
    precision: float

    @cached_property
    def residuals(self) -> Floats2d:
        """`o - p`, `[I, Y]`."""
        return self.observed - self.marginals

    @cached_property
    def variances(self) -> Floats2d:
        """`p·(1 - p)`, `[I, Y]`."""
        variances: Floats2d = self.marginals * (1.0 - self.marginals)
        return variances

    def gains(self, rows: BinaryCSR) -> tuple[Floats2d, Floats2d]:
        """Weights and gains of candidates that hold in these units (`systems.induction.gains`)."""
        return newton_gains(
            rows.indptr, rows.indices, self.marginals, self.observed, self.precision
        )

    def gains_of_tests(self, postings: BinaryCSR, workers: Workers) -> Floats1d:
        """Gains of all tests to second order `[K]` (`systems.induction.gains.screen`)."""
        shape = postings.n_rows, self.marginals.shape[1]
        slopes, curvatures = np.zeros(shape), np.full(shape, self.precision)
        postings.add_product(self.residuals, slopes, workers)
        postings.add_product(self.variances, curvatures, workers)
        gains: Floats1d = (slopes**2 / (2.0 * curvatures)).sum(axis=1)
        return gains


@dataclass(frozen=True)
class Candidate:
    """A feature that could be added.

    gain: the sum of the gains of all labels. label: the one that gains most, by the weight.
    """

    tests: Conjunction
    gain: float
    label: int
    weight: float


class Search:
    """The search for candidates among the tests of hard units.

    in_model: the features that there are. min_count: of the hard units that have a candidate.
    """

    def __init__(
        self,
        units: HardUnits,
        tests: AtomicTests,
        in_model: Sequence[Conjunction],
        min_count: int,
        workers: Workers,
    ) -> None:
        self._units, self._tests, self._min_count = units, tests, min_count
        self._in_model, self._workers = in_model, workers
        self._postings = transposed(units.tests)
        self._known = set(in_model)
        self._rows_in_model = rows_of(self._postings, in_model)

    def best(self, n: int, longest: int | None) -> list[Candidate]:
        """The candidates with the largest gains, at least `n` if there are so many.

        A conjunction that holds in the same units as a better candidate, or as a feature of the
        model, is not among them. Tests that do are: in other texts they differ.
        longest: most tests of a conjunction.
        """
        single = self._with_gains(self._singles(n))
        tests = [candidate.tests for candidate, _ in single[:n]]
        joined = self._with_gains(self._conjunctions(tests, n, longest))
        found = sorted([*single, *joined], key=lambda c: (-c[0].gain, len(c[0].tests), c[0].tests))
        seen = {_units(self._rows_in_model, i) for i in range(self._rows_in_model.n_rows)}
        kept = []
        for candidate, units in found:
            if len(candidate.tests) == 1 or units not in seen:
                kept.append(candidate)
            seen.add(units)
        return kept

    def _singles(self, n: int) -> list[Conjunction]:
        """The best tests to second order that are not in the model."""
        counts = np.diff(self._postings.indptr)
        gains = self._units.gains_of_tests(self._postings, self._workers)
        order = np.argsort(-gains, kind="stable")
        order = order[counts[order] >= self._min_count][: _SCREENED * n + len(self._known)]
        return [(test,) for test in order.tolist() if (test,) not in self._known]

    def _with_gains(self, conjunctions: Sequence[Conjunction]) -> list[tuple[Candidate, bytes]]:
        """Candidates, and the units that have each as bytes, by falling gain."""
        rows = rows_of(self._postings, conjunctions)
        weights, gains = self._units.gains(rows)
        best = gains.argmax(axis=1)
        found = [
            (Candidate(tests, float(gains[i].sum()), int(a), float(weights[i, a])), _units(rows, i))
            for i, (tests, a) in enumerate(zip(conjunctions, best, strict=True))
        ]
        return sorted(found, key=lambda c: (-c[0].gain, c[0].tests))

    def _conjunctions(
        self, single: Sequence[Conjunction], n: int, longest: int | None
    ) -> list[Conjunction]:
        """Features of the model, and the best tests, each joined with one more test."""
        joins = self._tests.joins
        parents = [
            tests
            for tests in (*self._in_model, *single)
            if joins[list(tests)].all() and (longest is None or len(tests) < longest)
        ]
        parent, test, gain = self._screened(parents)
        order = np.lexsort((test, parent, -gain))[: 2 * _SCREENED * n]
        pairs = zip(parent[order].tolist(), test[order].tolist(), strict=True)
        joined = dict.fromkeys(tuple(sorted({*parents[f], t})) for f, t in pairs)
        new = [tests for tests in joined if tests not in self._known]
        return new[: _SCREENED * n]

    def _screened(self, parents: Sequence[Conjunction]) -> tuple[Ints1d, Ints1d, Floats1d]:
        """Parent, test and gain of the second order of all conjunctions with a parent."""
        units, rows = self._units, rows_of(self._postings, parents)
        per_unit = max(1, units.tests.indptr[-1] // max(1, units.tests.n_rows))
        found: dict[int, tuple[Ints1d, Ints1d, Floats1d]] = {}

        def piece(begin: int, end: int) -> None:
            found[begin] = screen(
                rows.indptr, rows.indices, units.tests.indptr, units.tests.indices,
                self._tests.joins, units.residuals, units.variances, units.precision,
                self._min_count, _LEAST_GAIN, begin, end,
            )  # fmt: skip

        pieces = split(rows.indptr, int(per_unit))
        self._workers.map(piece, pieces)
        parts = [found[begin] for begin, _ in pieces] or [_NOTHING]
        parent, test, gain = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return parent, test, gain


_NOTHING = np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0)
_LEAST_GAIN = 0.5
"""Conjunctions below it are not looked at further: the penalty alone costs as much."""


def _units(rows: BinaryCSR, i: int) -> bytes:
    """The units of a row, to compare rows by."""
    return rows.indices[rows.indptr[i] : rows.indptr[i + 1]].tobytes()


def choose(
    candidates: Sequence[Candidate], tests: AtomicTests, n: int, admitted: set[Parts],
    n_templates: int,
) -> list[Candidate]:  # fmt: skip
    """The best `n` candidates whose template is a test's, or admitted.

    The `n_templates` new templates whose candidates gain most, all together, are admitted first:
    that bounds what annotation has to look up.
    """
    gains: dict[Parts, float] = {}
    for candidate in candidates:
        template = tests.template_of(candidate.tests)
        if len(candidate.tests) > 1 and template not in admitted:
            gains[template] = gains.get(template, 0.0) + candidate.gain
    admitted |= set(sorted(gains, key=lambda t: -gains[t])[:n_templates])
    allowed = (
        candidate
        for candidate in candidates
        if len(candidate.tests) == 1 or tests.template_of(candidate.tests) in admitted
    )
    return [candidate for candidate, _ in zip(allowed, range(n), strict=False)]


def hard_units(
    tests: BinaryCSR, marginals: Floats2d, labels: Ints1d, certainty: float, precision: float
) -> HardUnits:
    """The units whose label has a probability of at most `certainty`.

    Negative labels are unknown, and so never wrong.
    """
    known = np.flatnonzero(labels >= 0)
    probabilities = marginals[known, labels[known]]
    hard: Pointers1d = known[probabilities <= certainty]
    observed = np.zeros((len(hard), marginals.shape[1]))
    observed[np.arange(len(hard)), labels[hard]] = 1.0
    return HardUnits(tests.take(hard), marginals[hard], observed, precision)
