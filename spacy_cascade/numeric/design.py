"""The design matrix of a corpus, factored over lexemes.

    scores = L (A w) + D w          gradient = Aᵀ (Lᵀ g) + Dᵀ g

`w` `[K, S]` weights, `A` the features of each (lexeme, slot), `L` which of those rows
each unit sums, `D` the unit-level features of each unit; all three binary and sparse. A
corpus has far fewer lexemes than tokens, so most work is done in `A`, once a lexeme.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from ..parallel import Workers, split
from ..types import Floats1d, Floats2d, Floats3d, Ints1d, Pointers1d, Pointers2d, RealsXd
from .csr import active_features, add_rows, add_to_columns

PARTS = 4
"""Gradients are gathered in so many sums side by side, for any number of threads.

Each sum costs memory, and time to add it up. Reading the transposed matrix instead, which all
threads could share, takes more than twice as long.
"""


AddParts: TypeAlias = Callable[[Floats3d], None]
"""Adds the parts of a sum to sums `[P, n, W]`, one each."""


@dataclass
class BinaryCSR:
    """A binary sparse matrix `[n_rows, n_columns]`: row `i` is `indices[indptr[i]:indptr[i+1]]`."""

    indptr: Pointers1d
    indices: Ints1d
    n_columns: int

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    def take(self, rows: Ints1d | Pointers1d) -> BinaryCSR:
        """The matrix of some of the rows, in the given order."""
        lengths = np.diff(self.indptr)[rows]
        indptr = np.append(0, np.cumsum(lengths))
        places = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], lengths)
        return BinaryCSR(indptr, self.indices[places], self.n_columns)

    def append(self, other: BinaryCSR) -> BinaryCSR:
        """The matrix with the rows of another one after its own."""
        indptr = np.append(self.indptr, self.indptr[-1] + other.indptr[1:])
        return BinaryCSR(indptr, np.append(self.indices, other.indices), self.n_columns)

    def add_product(self, values: RealsXd, out: Floats2d, workers: Workers) -> None:
        """`out += self @ values`, the same bits for any number of threads."""

        def piece(begin: int, end: int) -> None:
            add_rows(self.indptr, self.indices, values, out, begin, end)

        workers.map(piece, split(self.indptr, out.shape[1]))

    def add_transposed_product(self, values: Floats2d, sums: Floats3d, workers: Workers) -> None:
        """`sums.sum(axis=0) += self.T @ values`, the same bits for any number of threads.

        sums `[P, n_columns, W]`: each part of the rows is added to a sum of its own.
        """
        pieces, n_parts = split(self.indptr), len(sums)

        def part(first: int, last: int) -> None:
            for i in range(first, last):
                cut = slice(len(pieces) * i // n_parts, len(pieces) * (i + 1) // n_parts)
                for begin, end in pieces[cut]:
                    add_to_columns(self.indptr, self.indices, values, sums[i], begin, end)

        workers.map(part, _each(sums))

    def part_bounds(self, n_parts: int) -> Pointers1d:
        """First row of each part of `add_transposed_product`, and the end, int64 `[P + 1]`."""
        pieces = split(self.indptr)
        bounds = [*(begin for begin, _ in pieces), self.n_rows]
        places = [len(pieces) * i // n_parts for i in range(n_parts + 1)]
        return np.array([bounds[place] for place in places], dtype=np.int64)


def _each(sums: Floats3d) -> list[tuple[int, int]]:
    return [(i, i + 1) for i in range(len(sums))]


@dataclass(frozen=True)
class SegmentRows:
    """Features of segments of units, for those segments that have any.

    ends: int64 `[U + 1]`; rows `ends[u]:ends[u + 1]` are segments whose last unit is `u`, the
    shortest first. length: int32 `[M]`, in units. features: `[M, K]`. longest: `L`.
    """

    ends: Pointers1d
    length: Ints1d
    features: BinaryCSR
    longest: int

    @property
    def bounds(self) -> Pointers2d:
        """First unit of each segment, and the one after its last, int64 `[M, 2]`."""
        end = np.repeat(np.arange(1, len(self.ends)), np.diff(self.ends))
        return np.stack([end - self.length, end], axis=1)

    def scores(self, weights: RealsXd, workers: Workers) -> Floats2d:
        """Scores `[M, n]` under weights `[K, n]`."""
        scores = np.zeros((len(self.length), weights.shape[1]))
        self.features.add_product(weights, scores, workers)
        return scores

    def gradient(
        self, score_gradient: Floats2d, workers: Workers, n_parts: int = PARTS
    ) -> Floats2d:
        """Gradient `[K, n]` of the weights, given that of scores `[M, n]`."""
        sums = np.zeros((n_parts, self.features.n_columns, score_gradient.shape[1]))
        self.features.add_transposed_product(score_gradient, sums, workers)
        return total(sums, workers)


@dataclass
class Design:
    """Factored design matrix of a corpus (the module gives its formula).

    segments: features of segments of the units, for models that have such. n_parts: sums that
    gradients are gathered in; the last bits depend on it.
    """

    lexeme_features: BinaryCSR
    unit_lexemes: BinaryCSR
    unit_features: BinaryCSR
    segments: SegmentRows | None = None
    n_parts: int = PARTS
    _memory: Floats1d | None = field(default=None, repr=False)

    @property
    def n_units(self) -> int:
        return self.unit_lexemes.n_rows

    def scores(self, weights: RealsXd, workers: Workers) -> Floats2d:
        """Scores `[U, S]` of all units under weights `[K, S]`."""
        by_lexeme = np.zeros((self.lexeme_features.n_rows, weights.shape[1]))
        self.lexeme_features.add_product(weights, by_lexeme, workers)
        scores = np.zeros((self.n_units, weights.shape[1]))
        self.unit_lexemes.add_product(by_lexeme, scores, workers)
        self.unit_features.add_product(weights, scores, workers)
        return scores

    def active_features(self) -> BinaryCSR:
        """The features of each unit in one matrix `[U, K]`, `L A + D`."""
        indptr, indices = active_features(
            self.lexeme_features.indptr, self.lexeme_features.indices,
            self.unit_lexemes.indptr, self.unit_lexemes.indices,
            self.unit_features.indptr, self.unit_features.indices,
        )  # fmt: skip
        return BinaryCSR(indptr, indices, self.unit_features.n_columns)

    def counts(self, workers: Workers) -> Floats1d:
        """How many units, and segments, each feature is active in, `[K]`."""
        counts = self.gradient(np.ones((self.n_units, 1)), workers)[:, 0]
        if self.segments is not None:
            counts += np.bincount(self.segments.features.indices, minlength=len(counts))
        self.release_memory()
        return counts

    def gradient(
        self, score_gradient: Floats2d, workers: Workers, out: Floats2d | None = None
    ) -> Floats2d:
        """Gradient `[K, S]` of the weights, given that of scores `[U, S]`; written to `out`."""

        def of_lexemes(sums: Floats3d) -> None:
            self.unit_lexemes.add_transposed_product(score_gradient, sums, workers)

        def of_units(sums: Floats3d) -> None:
            self.unit_features.add_transposed_product(score_gradient, sums, workers)

        return self.gather(score_gradient.shape[1], of_lexemes, of_units, workers, out)

    def gather(
        self,
        width: int,
        of_lexemes: AddParts,
        of_units: AddParts,
        workers: Workers,
        out: Floats2d | None = None,
    ) -> Floats2d:
        """Gradient `[K, W]` from what units add to it, wherever that is computed.

        of_lexemes, of_units: add the parts of `Lᵀ g` and `Dᵀ g` to sums `[P, n, W]`.
        """
        sums = self._empty_sums(self.unit_lexemes.n_columns, width, workers)
        of_lexemes(sums)
        by_lexeme = total(sums, workers)
        sums = self._empty_sums(self.unit_features.n_columns, width, workers)
        of_units(sums)
        self.lexeme_features.add_transposed_product(by_lexeme, sums, workers)
        return total(sums, workers, out)

    def release_memory(self) -> None:
        """Free the memory that gradients are gathered in; the next gradient allocates it again."""
        self._memory = None

    def _empty_sums(self, n_rows: int, width: int, workers: Workers) -> Floats3d:
        """Zeros `[P, n_rows, W]` in memory that is kept, because new memory is slow."""
        size = max(self.unit_lexemes.n_columns, self.unit_features.n_columns) * width
        n = self.n_parts
        if self._memory is None or len(self._memory) < n * size:
            self._memory = np.empty(n * size)
        sums = self._memory[: n * n_rows * width].reshape(n, n_rows, width)
        workers.map(lambda first, last: sums[first:last].fill(0.0), _each(sums))
        return sums


def total(sums: Floats3d, workers: Workers, out: Floats2d | None = None) -> Floats2d:
    """The sum over parts, `[n, W]`."""
    n_parts, n_rows, width = sums.shape
    total = np.empty((n_rows, width)) if out is None else out

    def piece(begin: int, end: int) -> None:
        np.sum(sums[:, begin:end], axis=0, out=total[begin:end])

    entries = n_parts * width
    workers.map(piece, split(range(0, (n_rows + 1) * entries, entries)))
    return total
