"""The design matrix of a corpus, factored over lexemes.

    scores = L (A w) + D w          gradient = Aᵀ (Lᵀ g) + Dᵀ g

`w` `[K, S]` weights, `A` the features of each (lexeme, slot), `L` which of those rows
each unit sums, `D` the unit-level features of each unit; all three binary and sparse. A
corpus has far fewer lexemes than tokens, so most work is done in `A`, once a lexeme.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
AddPart: TypeAlias = Callable[[int, Floats2d], None]
"""Adds the part of a number to an array `[n, W]`; parts are added up in their order."""


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

    def add_part(self, part: int, n_parts: int, values: Floats2d, out: Floats2d) -> None:
        """`out += self.T @ values` for one of the parts that the rows are divided into."""
        pieces = split(self.indptr)
        first, last = (len(pieces) * i // n_parts for i in (part, part + 1))
        for begin, end in pieces[first:last]:
            add_to_columns(self.indptr, self.indices, values, out, begin, end)

    def part_bounds(self, n_parts: int) -> Pointers1d:
        """First row of each part, and the end, int64 `[P + 1]`."""
        pieces = split(self.indptr)
        bounds = [*(begin for begin, _ in pieces), self.n_rows]
        places = [len(pieces) * i // n_parts for i in range(n_parts + 1)]
        return np.array([bounds[place] for place in places], dtype=np.int64)


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
        gradient = np.empty((self.features.n_columns, score_gradient.shape[1]))

        def add(part: int, out: Floats2d) -> None:
            self.features.add_part(part, n_parts, score_gradient, out)

        Memory().add_up([add], n_parts, gradient, workers)
        return gradient


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
    _memory: Memory = field(default_factory=lambda: Memory(), repr=False)

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

        def of_lexemes(part: int, out: Floats2d) -> None:
            self.unit_lexemes.add_part(part, self.n_parts, score_gradient, out)

        def of_units(part: int, out: Floats2d) -> None:
            self.unit_features.add_part(part, self.n_parts, score_gradient, out)

        if out is None:
            out = np.empty((self.unit_features.n_columns, score_gradient.shape[1]))
        self.gather(of_lexemes, of_units, workers, out)
        return out

    def gather(
        self, of_lexemes: AddPart, of_units: AddPart, workers: Workers, out: Floats2d
    ) -> None:
        """Write the gradient `[K, W]`, of what units add to it, wherever that is computed.

        of_lexemes, of_units: add a part of `Lᵀ g` `[R, W]`, and of `Dᵀ g` `[K, W]`.
        """
        by_lexeme = np.empty((self.unit_lexemes.n_columns, out.shape[1]))
        self._memory.add_up([of_lexemes], self.n_parts, by_lexeme, workers)

        def through_lexemes(part: int, out: Floats2d) -> None:
            self.lexeme_features.add_part(part, self.n_parts, by_lexeme, out)

        self._memory.add_up([of_units, through_lexemes], self.n_parts, out, workers)

    def release_memory(self) -> None:
        """Free the memory that gradients are gathered in; the next gradient allocates it again."""
        self._memory = Memory()


class Memory:
    """Where parts are summed up; it is kept, because new memory is slow."""

    def __init__(self) -> None:
        self._floats = np.empty(0)

    def add_up(
        self, addends: Sequence[AddPart], n_parts: int, out: Floats2d, workers: Workers
    ) -> None:
        """Write the sum over all parts, in their order, whatever the threads.

        addends: what is added to each part, one after the other. Some parts are made side by side.
        """
        for first in range(0, n_parts, PARTS):
            sums = self._sums(min(PARTS, n_parts - first), out.shape)

            def make(begin: int, end: int, first: int = first, sums: Floats3d = sums) -> None:
                for i in range(begin, end):
                    sums[i].fill(0.0)
                    for add in addends:
                        add(first + i, sums[i])

            workers.map(make, [(i, i + 1) for i in range(len(sums))])
            _add_up(sums, out, first > 0, workers)

    def _sums(self, n: int, shape: tuple[int, ...]) -> Floats3d:
        size = n * shape[0] * shape[1]
        if len(self._floats) < size:
            self._floats = np.empty(size)
        sums: Floats3d = self._floats[:size].reshape(n, *shape)
        return sums


def _add_up(sums: Floats3d, out: Floats2d, is_begun: bool, workers: Workers) -> None:
    """Write the sum over the first axis to `out`, or add it, one after the other."""
    n_parts, n_rows, width = sums.shape

    def piece(begin: int, end: int) -> None:
        rows = slice(begin, end)
        if not is_begun:
            np.sum(sums[:, rows], axis=0, out=out[rows])
            return
        for part in sums:
            out[rows] += part[rows]

    entries = n_parts * width
    workers.map(piece, split(range(0, (n_rows + 1) * entries, entries)))
