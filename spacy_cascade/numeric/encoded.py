"""What scorers keep of a corpus or a batch, and the sums of what they give.

A model is a sum of scorers. Each adds to one of the arrays of scores that a structure composes its
potentials of, by rows of the weights that are its own:

    scores = Σ_i score_i(weights[rows_i])          slopes of weights[rows_i] = gradient_i(slopes)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ..parallel import Workers
from ..types import Floats1d, Floats2d, RealsXd


class Encoded(Protocol):
    """What one scorer keeps: of `T` units, or of `T` spans of them.

    n_scored: `T`. block: which array of scores it adds to (`structure.Columns.blocks`). rows: those
    of the weights that are its own, `K` of them.
    """

    @property
    def n_scored(self) -> int: ...

    @property
    def block(self) -> int: ...

    @property
    def rows(self) -> slice: ...

    def add_scores(self, weights: RealsXd, out: Floats2d, workers: Workers) -> None:
        """Add the scores under weights `[K, n]` to `out` `[T, n]`."""

    def add_gradient(self, slopes: Floats2d, out: Floats2d, workers: Workers) -> None:
        """Add the gradient of the weights to `out` `[K, n]`, given that of scores `[T, n]`."""

    def squared(self) -> Encoded:
        """The same with the square of each number that weights are multiplied with."""

    def counts(self, workers: Workers) -> Floats1d:
        """How many units or spans each row of weights is used in, float64 `[K]`."""


def sum_of_scores(
    encoded: Sequence[Encoded],
    weights: RealsXd,
    blocks: Sequence[slice],
    workers: Workers,
    *given: Floats2d,
) -> list[Floats2d]:
    """The arrays of scores, one for each block of the columns of weights `[K, S]`.

    given: the first of these arrays, as far as there are some already; they are added to.
    """
    arrays = dict(enumerate(given))
    for each in encoded:
        own = weights[each.rows, blocks[each.block]]
        if each.block not in arrays:
            arrays[each.block] = np.zeros((each.n_scored, own.shape[1]))
        each.add_scores(own, arrays[each.block], workers)
    return [arrays[block] for block in range(len(blocks))]


def sum_of_gradients(
    encoded: Sequence[Encoded],
    slopes: Sequence[Floats2d],
    blocks: Sequence[slice],
    workers: Workers,
    out: Floats2d,
) -> None:
    """Write the gradient of all weights to `out` `[K, S]`, given that of each array of scores."""
    out.fill(0.0)
    for each in encoded:
        each.add_gradient(slopes[each.block], out[each.rows, blocks[each.block]], workers)


def sum_of_counts(encoded: Sequence[Encoded], workers: Workers) -> Floats1d:
    """How many units and spans each row of the weights is used in, float64 `[K]`."""
    counts = np.zeros(max(each.rows.stop for each in encoded))
    for each in encoded:
        counts[each.rows] += each.counts(workers)
    return counts
