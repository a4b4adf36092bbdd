"""A linear layer over vectors of tokens, as an encoder gives them.

    scores = x W          gradient = xᵀ g          slopes of x = g Wᵀ

`x` `[U, D]` are the vectors of units: those of tokens, or for spans of tokens those of the first
one, of the last one and their mean, side by side. Products are sums by `einsum`, whose bits do not
depend on the number of threads, as those of a library for linear algebra do.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..parallel import Workers
from ..types import Bools2d, Floats1d, Floats2d, Ints1d, Pointers1d, Pointers2d, Reals2d, RealsXd

PLACES_OF_SPAN = 3
"""First token, last token, and the mean of all."""


class TokenVectors(NamedTuple):
    """Vectors of the tokens of a batch, float `[T, d]`, and where units stand.

    bounds: int64 `[U, 2]`, tokens of each span; None where each token is a unit.
    """

    of_tokens: Reals2d
    bounds: Pointers2d | None = None

    @property
    def n_units(self) -> int:
        return len(self.of_tokens if self.bounds is None else self.bounds)

    def take(self, numbers: Pointers1d | slice) -> TokenVectors:
        """Those of some units."""
        if self.bounds is None:
            return TokenVectors(self.of_tokens[numbers])
        return TokenVectors(self.of_tokens, self.bounds[numbers])

    def of_units(self) -> Floats2d:
        """`x`, float64 `[U, D]`."""
        if self.bounds is None:
            return self.of_tokens.astype(np.float64)
        start, end = self.bounds.T
        sums = np.zeros((len(self.of_tokens) + 1, self.of_tokens.shape[1]))
        np.cumsum(self.of_tokens, axis=0, out=sums[1:])
        means = (sums[end] - sums[start]) / (end - start)[:, None]
        found = [self.of_tokens[start], self.of_tokens[end - 1], means]
        return np.hstack(found).astype(np.float64)

    def slopes(self, of_units: Floats2d) -> Floats2d:
        """The gradient with respect to vectors of tokens `[T, d]`, given that of `x` `[U, D]`."""
        if self.bounds is None:
            return of_units
        (start, end), lengths = self.bounds.T, np.diff(self.bounds, axis=1)
        of_first, of_last, of_mean = np.split(of_units, PLACES_OF_SPAN, axis=1)
        n_tokens, width = self.of_tokens.shape
        found, steps = np.zeros((n_tokens, width)), np.zeros((n_tokens + 1, width))
        np.add.at(found, start, of_first)
        np.add.at(found, end - 1, of_last)
        np.add.at(steps, start, of_mean / lengths)
        np.subtract.at(steps, end, of_mean / lengths)
        found += np.cumsum(steps, axis=0)[:-1]
        return found


def width_of_units(width: int, are_spans: bool) -> int:
    """`D` for vectors of `d` numbers."""
    return width * (PLACES_OF_SPAN if are_spans else 1)


@dataclass
class DenseRows:
    """What the layer keeps of units; their weights are the rows from `first` on.

    kept: factors of the values `[U, D]`, where some are left out. slopes: the last gradient with
    respect to the values, once there is one.
    """

    vectors: TokenVectors
    values: Floats2d
    first: int
    kept: Floats2d | None = None
    slopes: Floats2d | None = None
    _weights: RealsXd | None = field(default=None, repr=False)

    block = 0

    @classmethod
    def of(cls, vectors: TokenVectors, first: int) -> DenseRows:
        return cls(vectors, vectors.of_units(), first)

    @property
    def n_scored(self) -> int:
        return len(self.values)

    @property
    def rows(self) -> slice:
        return slice(self.first, self.first + self.values.shape[1])

    def add_scores(self, weights: RealsXd, out: Floats2d, workers: Workers) -> None:
        # The gradient may be written to where the weights stand.
        self._weights = weights.astype(np.float64)
        out += np.einsum("ud,ds->us", self.values, self._weights)

    def add_gradient(self, slopes: Floats2d, out: Floats2d, workers: Workers) -> None:
        out += np.einsum("ud,us->ds", self.values, slopes)
        if self._weights is not None:
            self.slopes = np.einsum("us,ds->ud", slopes, self._weights)
            if self.kept is not None:
                self.slopes *= self.kept

    def token_slopes(self) -> Floats2d:
        """The last gradient with respect to the vectors of tokens, `[T, d]`."""
        if self.slopes is None:
            return np.zeros(self.vectors.of_tokens.shape)
        return self.vectors.slopes(self.slopes)

    def squared(self) -> DenseRows:
        return replace(self, values=self.values**2, slopes=None, _weights=None)

    def counts(self, workers: Workers) -> Floats1d:
        """`Σ x²` of each row: what an occurrence of a feature is, here is a square."""
        found: Floats1d = np.einsum("ij,ij->j", self.values, self.values)
        return found

    # Of a batch alone (`trainers.minibatch`)

    def without(self, is_dropped: Bools2d) -> DenseRows:
        """With some of the values left out `[U, D]`, for which the others count more."""
        kept = ~is_dropped / max(1.0 - is_dropped.mean(), 1e-9)
        return replace(self, values=self.values * kept, kept=kept)

    def used_rows(self) -> Ints1d:
        return np.arange(self.rows.start, self.rows.stop, dtype=np.int32)

    def on_rows(self, rows: Ints1d) -> DenseRows:
        return replace(self, first=int(np.searchsorted(rows, self.first)))
