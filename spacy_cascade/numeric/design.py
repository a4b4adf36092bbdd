"""The design matrix of a corpus, factored over lexemes.

    scores = L (A w) + D w          gradient = Aᵀ (Lᵀ g) + Dᵀ g

`w` `[K, S]` weights, `A` the features of each (lexeme, slot), `L` which of those rows
each unit sums, `D` the unit-level features of each unit; all three binary and sparse. A
corpus has far fewer lexemes than tokens, so most work is done in `A`, once a lexeme.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from ..errors import ConfigError
from ..parallel import Workers
from ..types import Floats1d, Floats2d, Ints1d, Pointers1d, Pointers2d, RealsXd
from .csr import BinaryCSR, active_features, add_transposed_products, used_columns


@dataclass
class SegmentRows:
    """Features of segments of units, for those segments that have any.

    ends: int64 `[U + 1]`; rows `ends[u]:ends[u + 1]` are segments whose last unit is `u`, the
    shortest first. length: int32 `[M]`, in units. features: `[M, K]`. longest: `L`.
    """

    ends: Pointers1d
    length: Ints1d
    features: BinaryCSR
    longest: int

    block = 1

    @property
    def n_scored(self) -> int:
        return len(self.length)

    @property
    def rows(self) -> slice:
        return slice(0, self.features.n_columns)

    @property
    def bounds(self) -> Pointers2d:
        """First unit of each segment, and the one after its last, int64 `[M, 2]`."""
        end = np.repeat(np.arange(1, len(self.ends)), np.diff(self.ends))
        return np.stack([end - self.length, end], axis=1)

    def add_scores(self, weights: RealsXd, out: Floats2d, workers: Workers) -> None:
        """Add the scores under weights `[K, n]` to `out` `[M, n]`."""
        own = cast(RealsXd, np.ascontiguousarray(weights))
        self.features.add_product(own, out, workers)

    def add_gradient(self, slopes: Floats2d, out: Floats2d, workers: Workers) -> None:
        """Add the gradient of the weights to `out` `[K, n]`, given that of scores `[M, n]`."""
        own = np.zeros(out.shape)
        add_transposed_products([(self.features, slopes, own)], workers)
        out += own

    def squared(self) -> SegmentRows:
        """Itself: features are 0 or 1."""
        return self

    def counts(self, workers: Workers) -> Floats1d:
        """How many segments each feature is active in, `[K]`."""
        counts = np.bincount(self.features.indices, minlength=self.features.n_columns)
        return counts.astype(np.float64)

    def used_rows(self) -> Ints1d:
        """The rows of weights that any segment uses, ascending."""
        return used_columns(self.features)

    def on_rows(self, rows: Ints1d) -> SegmentRows:
        """The same for weights of these rows only, ascending, which include all that are used."""
        return replace(self, features=self.features.on_columns(rows))


@dataclass
class Design:
    """Factored design matrix of a corpus (the module gives its formula)."""

    lexeme_features: BinaryCSR
    unit_lexemes: BinaryCSR
    unit_features: BinaryCSR

    block = 0

    @property
    def n_scored(self) -> int:
        return self.unit_lexemes.n_rows

    @property
    def rows(self) -> slice:
        return slice(0, self.unit_features.n_columns)

    def add_scores(self, weights: RealsXd, out: Floats2d, workers: Workers) -> None:
        """Add the scores of all units under weights `[K, S]` to `out` `[U, S]`."""
        by_lexeme = np.zeros((self.lexeme_features.n_rows, weights.shape[1]))
        self.lexeme_features.add_product(weights, by_lexeme, workers)
        self.unit_lexemes.add_product(by_lexeme, out, workers)
        self.unit_features.add_product(weights, out, workers)

    def add_gradient(self, slopes: Floats2d, out: Floats2d, workers: Workers) -> None:
        """Add the gradient of the weights to `out` `[K, S]`, given that of scores `[U, S]`."""
        by_lexeme = np.zeros((self.unit_lexemes.n_columns, slopes.shape[1]))
        sums = (self.unit_lexemes, slopes, by_lexeme), (self.unit_features, slopes, out)
        add_transposed_products(sums, workers)
        add_transposed_products([(self.lexeme_features, by_lexeme, out)], workers)

    def squared(self) -> Design:
        """Itself: features are 0 or 1."""
        return self

    def active_features(self) -> BinaryCSR:
        """The features of each unit in one matrix `[U, K]`, `L A + D`."""
        indptr, indices = active_features(
            self.lexeme_features.indptr, self.lexeme_features.indices,
            self.unit_lexemes.indptr, self.unit_lexemes.indices,
            self.unit_features.indptr, self.unit_features.indices,
        )  # fmt: skip
        return BinaryCSR(indptr, indices, self.unit_features.n_columns)

    def counts(self, workers: Workers) -> Floats1d:
        """How many units each feature is active in, `[K]`."""
        counts = np.zeros((self.unit_features.n_columns, 1))
        self.add_gradient(np.ones((self.n_scored, 1)), counts, workers)
        return counts[:, 0]

    def used_rows(self) -> Ints1d:
        """The rows of weights that any unit uses, ascending."""
        return used_columns(self.lexeme_features, self.unit_features)

    def on_rows(self, rows: Ints1d) -> Design:
        """The same for weights of these rows only, ascending, which include all that are used."""
        of_lexemes, of_units = (
            features.on_columns(rows) for features in (self.lexeme_features, self.unit_features)
        )
        return Design(of_lexemes, self.unit_lexemes, of_units)


def only_design(encoded: Sequence[object], who: str) -> Design:
    """The features of units, for who knows no other scorers. Raises `ConfigError` with others."""
    if len(encoded) == 1 and isinstance(encoded[0], Design):
        return encoded[0]
    raise ConfigError(
        f"{who} goes through listed features of tokens. This model scores more than these. "
        "Choose another [model], or another trainer."
    )
