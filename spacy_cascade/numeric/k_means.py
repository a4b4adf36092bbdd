"""Clusters of directions: spherical k-means, and a tree of it.

Dhillon and Modha (2001), "Concept decompositions for large sparse text data using clustering";
Nister and Stewenius (2006), "Scalable recognition with a vocabulary tree".
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from ..jit import kernel
from ..types import Floats1d, Floats2d, Ints1d, Ints2d, Pointers1d, Reals2d

_BLOCK = 1 << 12
"""Points whose products with all centroids are in memory at once."""
_ITERATIONS = 10
_SETTLED = 0.001
"""Share of the points that may still change cluster when the search ends."""


def directions(points: Reals2d) -> Floats2d:
    """Points `[n, D]` scaled to length 1; zeros stay zeros."""
    lengths = np.linalg.norm(points.astype(np.float64), axis=1, keepdims=True)
    return points / np.where(lengths == 0.0, 1.0, lengths)


def directions_from(mean: Reals2d, points: Reals2d) -> Floats2d:
    """Directions of points from their mean: vectors of words mostly lie in one direction."""
    return directions(points - mean)


def nearest(points: Reals2d, centroids: Reals2d) -> Ints1d:
    """Number of the centroid in whose direction each point lies most, int32 `[n]`."""
    return _products(points, centroids)[0]


def _products(points: Reals2d, centroids: Reals2d) -> tuple[Ints1d, Floats1d]:
    """The nearest centroid of each point, and the product with it."""
    numbers, products = np.zeros(len(points), dtype=np.int32), np.zeros(len(points))
    for begin in range(0, len(points), _BLOCK):
        block = points[begin : begin + _BLOCK] @ centroids.T
        numbers[begin : begin + _BLOCK] = block.argmax(axis=1)
        products[begin : begin + _BLOCK] = block.max(axis=1)
    return numbers, products


def k_means(points: Floats2d, k: int, seed: int) -> Floats2d:
    """Centroids of `k` clusters at most, each of length 1, `[C, D]`.

    points: of length 1, `[n, D]`. A cluster that gets empty begins anew with the point that lies
    farthest from its own centroid. There are fewer clusters than `k` where points are equal.
    """
    distinct = np.unique(points, axis=0)
    if len(distinct) <= k:
        return distinct
    chosen = np.random.default_rng(seed).choice(len(distinct), k, replace=False)
    centroids = distinct[np.sort(chosen)]
    before = np.full(len(points), -1)
    for _ in range(_ITERATIONS):
        numbers, products = _products(points, centroids)
        centroids = _means(points, numbers, centroids)
        empty = np.flatnonzero(np.bincount(numbers, minlength=k) == 0)
        centroids[empty] = points[np.argsort(products, kind="stable")[: len(empty)]]
        if not len(empty) and (numbers != before).mean() <= _SETTLED:
            break
        before = numbers
    used: Floats2d = centroids[np.unique(nearest(points, centroids))]
    return used


def _means(points: Floats2d, numbers: Ints1d, centroids: Floats2d) -> Floats2d:
    """Directions of the sums of clusters; where a sum is zero, the centroid stays."""
    order = np.argsort(numbers, kind="stable")
    used, begin = np.unique(numbers[order], return_index=True)
    sums = np.add.reduceat(points[order], begin)
    means: Floats2d = centroids.copy()
    is_sum = sums.any(axis=1)
    means[used[is_sum]] = directions(sums[is_sum])
    return means


@dataclass(frozen=True)
class ClusterTree:
    """Clusters at several sizes, those of a size inside the ones of the size before.

    centroids: of length 1, `[n_s, D]` for each size, coarsest first. first: int64 `[n_s + 1]` for
    each size but the last: the clusters `first[g] <= c < first[g + 1]` of the next size lie in `g`.
    """

    centroids: Sequence[Reals2d]
    first: Sequence[Pointers1d]

    @classmethod
    def grow(cls, points: Floats2d, sizes: Sequence[int], seed: int) -> ClusterTree:
        """Clusters of points of length 1, `[n, D]`; sizes: at most so many, ascending."""
        centroids: list[Floats2d] = [k_means(points, sizes[0], seed)]
        first, numbers = list[Pointers1d](), nearest(points, centroids[0])
        for before, size in itertools.pairwise(sizes):
            k, order = ceil(size / before), np.argsort(numbers, kind="stable")
            begin = np.searchsorted(numbers[order], np.arange(len(centroids[-1]) + 1))
            inside = [
                k_means(points[order[b:e]], k, seed) if e > b else centroids[-1][g : g + 1]
                for g, (b, e) in enumerate(itertools.pairwise(begin))
            ]
            first.append(np.cumsum([0, *map(len, inside)]))
            centroids.append(np.concatenate(inside))
            numbers = _nearest_inside(points, numbers, centroids[-1], first[-1])
        return cls(centroids, first)

    def clusters(self, points: Reals2d) -> Ints1d:
        """The finest cluster of each point, int32 `[n]`: from the root, each time the nearest."""
        numbers = nearest(points, self.centroids[0])
        for centroids, first in zip(self.centroids[1:], self.first, strict=True):
            numbers = _nearest_inside(points, numbers, centroids, first)
        return numbers

    def groups(self) -> Ints2d:
        """The cluster of each size that a finest one lies in, int32 `[S, C]`, coarsest first."""
        groups = [np.arange(len(self.centroids[-1]), dtype=np.int32)]
        for first in reversed(self.first):
            finer = np.repeat(np.arange(len(first) - 1, dtype=np.int32), np.diff(first))
            groups.append(finer[groups[-1]])
        return np.stack(groups[::-1])


def _nearest_inside(
    points: Reals2d, numbers: Ints1d, centroids: Reals2d, first: Pointers1d
) -> Ints1d:
    """The nearest of the centroids inside the cluster of each point, int32 `[n]`."""
    found = np.empty(len(points), dtype=np.int32)
    _choose_inside(points, numbers, centroids, first, found)
    return found


@kernel
def _choose_inside(
    points: Reals2d, numbers: Ints1d, centroids: Reals2d, first: Pointers1d, found: Ints1d
) -> None:
    """`found[i] = argmax_c points[i]·centroids[c]` over `first[g] ≤ c < first[g + 1]`.

    `g = numbers[i]`; points `[n, D]`, centroids `[C, D]`. Of equals the first.
    """
    for i in range(len(points)):
        best = -np.inf
        for c in range(first[numbers[i]], first[numbers[i] + 1]):
            product = 0.0
            for j in range(points.shape[1]):
                product += np.float64(points[i, j]) * centroids[c, j]
            if product > best:
                best, found[i] = product, c
