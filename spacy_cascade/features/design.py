"""The design matrix of a corpus, factored over lexemes.

    scores = L (A w) + D w          gradient = Aᵀ (Lᵀ g) + Dᵀ g

`w` `[K, S]` weights, `A` the features of each (lexeme, slot), `L` which of those rows
each unit sums, `D` the direct features of each unit; all three binary and sparse. A
corpus has far fewer lexemes than tokens, so most work is done in `A`, once a lexeme.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..inference.rows import add_rows, transpose_rows
from ..parallel import Workers, split
from ..types import Floats1d, Floats2d, Ints1d, Pointers1d, RealsXd


@dataclass
class Rows:
    """A binary sparse matrix `[n_rows, n_columns]`: row `i` is `columns[starts[i]:starts[i+1]]`."""

    starts: Pointers1d
    columns: Ints1d
    n_columns: int

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.starts) - 1

    def transposed(self) -> Rows:
        """The transposed matrix."""
        return Rows(*transpose_rows(self.starts, self.columns, self.n_columns), self.n_rows)

    def add_product(self, values: RealsXd, out: Floats2d, workers: Workers) -> None:
        """`out += self @ values`, the same bits for any number of threads."""

        def piece(begin: int, end: int) -> None:
            add_rows(self.starts, self.columns, values, out, begin, end)

        workers.map(piece, split(self.starts))


@dataclass
class Design:
    """Factored design matrix of a corpus (the module gives its formula)."""

    lexeme_features: Rows
    unit_lexemes: Rows
    unit_features: Rows
    _transposed: tuple[Rows, Rows, Rows] | None = field(default=None, repr=False)

    @property
    def n_units(self) -> int:
        """Number of units (tokens of a chain, or spans)."""
        return self.unit_lexemes.n_rows

    def scores(self, weights: Floats2d, workers: Workers) -> Floats2d:
        """Scores `[U, S]` of all units under weights `[K, S]`."""
        by_lexeme = np.zeros((self.lexeme_features.n_rows, weights.shape[1]))
        self.lexeme_features.add_product(weights, by_lexeme, workers)
        scores = np.zeros((self.n_units, weights.shape[1]))
        self.unit_lexemes.add_product(by_lexeme, scores, workers)
        self.unit_features.add_product(weights, scores, workers)
        return scores

    def counts(self, workers: Workers) -> Floats1d:
        """How many units each feature is active in, `[K]`."""
        return self.gradient(np.ones((self.n_units, 1)), workers)[:, 0]

    def gradient(self, score_gradient: Floats2d, workers: Workers) -> Floats2d:
        """Gradient `[K, S]` with respect to the weights, from that of the scores `[U, S]`."""
        if self._transposed is None:
            self._transposed = (
                self.lexeme_features.transposed(),
                self.unit_lexemes.transposed(),
                self.unit_features.transposed(),
            )
        features_lexemes, lexemes_units, features_units = self._transposed
        width = score_gradient.shape[1]
        by_lexeme = np.zeros((lexemes_units.n_rows, width))
        lexemes_units.add_product(score_gradient, by_lexeme, workers)
        gradient = np.zeros((features_units.n_rows, width))
        features_units.add_product(score_gradient, gradient, workers)
        features_lexemes.add_product(by_lexeme, gradient, workers)
        return gradient
