"""Clusters of directions: spherical k-means, and Ward's tree over the centroids.

Dhillon and Modha (2001), "Concept decompositions for large sparse text data using clustering";
Ward (1963), "Hierarchical grouping to optimize an objective function".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..types import Bools1d, Floats1d, Floats2d, Ints1d, Ints2d, Reals2d

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


def nearest(points: Floats2d, centroids: Floats2d) -> Ints1d:
    """Number of the centroid in whose direction each point lies most, int32 `[n]`."""
    return _products(points, centroids)[0]


def _products(points: Floats2d, centroids: Floats2d) -> tuple[Ints1d, Floats1d]:
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


def ward_groups(points: Floats2d, sizes: Sequence[int]) -> Ints2d:
    """The group of each point where Ward's tree over them is cut into so many groups.

    points `[n, D]`. Returns int32 `[len(sizes), n]`, with numbers from 0. Groups of a greater size
    divide those of a smaller one. Where a size is greater than `n`, each point is a group.
    """
    n = len(points)
    groups = np.arange(n, dtype=np.int32)
    cuts = {n: groups}
    middles, weights, is_there = points.copy(), np.ones(n), np.ones(n, dtype=np.bool_)
    costs = np.stack([_merging_costs(middles, weights, is_there, i) for i in range(n)])
    for n_groups in range(n - 1, 0, -1):
        kept, merged = sorted(divmod(int(costs.argmin()), n))
        total = weights[kept] + weights[merged]
        middles[kept] += (middles[merged] - middles[kept]) * (weights[merged] / total)
        weights[kept], is_there[merged] = total, False
        costs[merged] = costs[:, merged] = np.inf
        costs[kept] = costs[:, kept] = _merging_costs(middles, weights, is_there, kept)
        groups = np.where(groups == merged, kept, groups)
        cuts[n_groups] = groups
    groups_at = [np.unique(cuts[min(size, n)], return_inverse=True)[1] for size in sizes]
    return np.array(groups_at, dtype=np.int32).reshape(len(sizes), n)


def _merging_costs(middles: Floats2d, weights: Floats1d, is_there: Bools1d, i: int) -> Floats1d:
    """What the squared distances from the middles grow by when `i` is merged with each other."""
    factors = weights * weights[i] / (weights + weights[i])
    costs = factors * ((middles - middles[i]) ** 2).sum(axis=1)
    return np.where(is_there & (np.arange(len(middles)) != i), costs, np.inf)
