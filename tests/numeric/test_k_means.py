"""Spherical k-means and its tree, against SciPy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from spacy_cascade.numeric import k_means as module
from spacy_cascade.numeric.k_means import ClusterTree, directions, directions_from, k_means, nearest


def unit_points(n: int, width: int, seed: int = 0) -> np.ndarray:
    return directions(np.random.default_rng(seed).normal(size=(n, width)))


def test_directions_have_length_one() -> None:
    points = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, -2.0]], dtype=np.float32)
    assert directions(points).tolist() == [[0.6, 0.8], [0.0, 0.0], [0.0, -1.0]]


def test_directions_from_a_mean() -> None:
    points = np.array([[4.0, 6.0], [1.0, 2.0]])
    assert directions_from(np.array([1.0, 2.0]), points).tolist() == [[0.6, 0.8], [0.0, 0.0]]


def test_the_nearest_centroid(monkeypatch: pytest.MonkeyPatch) -> None:
    """In several blocks, of which the last one is short; SciPy compares distances."""
    monkeypatch.setattr(module, "_BLOCK", 7)
    points, centroids = unit_points(40, 5), unit_points(6, 5, seed=1)
    assert nearest(points, centroids).tolist() == cdist(points, centroids).argmin(axis=1).tolist()
    assert nearest(points[:0], centroids).shape == (0,)


def test_separate_groups_are_found() -> None:
    middles = np.eye(4, 6)
    noise = 0.05 * np.random.default_rng(2).normal(size=(200, 6))
    group = np.arange(200) % 4
    points = directions(middles[group] + noise)
    found = nearest(points, k_means(points, 4, seed=0))
    assert len(set(zip(group.tolist(), found.tolist(), strict=True))) == 4


def test_centroids_are_the_means_of_their_clusters() -> None:
    points = unit_points(120, 4)
    centroids = k_means(points, 8, seed=0)
    assert centroids.shape == (8, 4)
    assert np.linalg.norm(centroids, axis=1) == pytest.approx(np.ones(8))
    numbers = nearest(points, centroids)
    means = np.stack([directions(points[numbers == c].sum(axis=0)[None])[0] for c in range(8)])
    assert (nearest(points, means) == numbers).mean() > 0.9
    random = unit_points(8, 4, seed=3)
    assert (points @ centroids.T).max(axis=1).sum() > (points @ random.T).max(axis=1).sum()
    assert np.array_equal(k_means(points, 8, seed=0), centroids)
    assert not np.array_equal(k_means(points, 8, seed=2), centroids)


def test_a_number_that_is_zero_in_all_points_changes_nothing() -> None:
    points, zeros = unit_points(120, 3), [(0, 0), (0, 1)]
    found = k_means(np.pad(points, zeros), 8, seed=0)
    np.testing.assert_allclose(found, np.pad(k_means(points, 8, seed=0), zeros), atol=1e-12)


@pytest.mark.parametrize(("k", "times"), [(3, 2), (4, 2), (10, 50)])
def test_few_points_are_their_own_centroids(k: int, times: int) -> None:
    """Equal ones are one cluster."""
    points = unit_points(3, 4)
    found = k_means(np.repeat(points, times, axis=0), k, seed=0)
    np.testing.assert_allclose(sorted(found.tolist()), sorted(points.tolist()), rtol=1e-12)


def crowded_points(seed: int) -> np.ndarray:
    """A few lie among hundreds that are nearly equal, at which most centroids begin."""
    noise = 1e-9 * np.random.default_rng(seed).normal(size=(400, 3))
    return np.concatenate([directions(np.array([1.0, 0, 0]) + noise), unit_points(20, 3)])


@pytest.mark.parametrize("seed", range(2))
def test_no_cluster_is_empty(seed: int) -> None:
    assert len(k_means(crowded_points(seed), 20, seed)) == 20


@pytest.fixture(scope="module")
def tree() -> ClusterTree:
    return ClusterTree.grow(unit_points(300, 4), (3, 8, 50), seed=0)


def test_a_point_is_in_the_nearest_cluster_inside_the_nearest_one(tree: ClusterTree) -> None:
    """By SciPy, size by size; also points that it did not grow of."""
    points, groups = unit_points(40, 4, seed=5), tree.groups()
    inside = np.zeros(len(points), dtype=np.int64)
    for size, centroids in enumerate(tree.centroids):
        distances = cdist(points, centroids)
        if size:
            parents = groups[size - 1][np.searchsorted(groups[size], np.arange(len(centroids)))]
            distances[parents[None, :] != inside[:, None]] = np.inf
        inside = distances.argmin(axis=1)
    assert tree.clusters(points).tolist() == inside.tolist()
    assert tree.clusters(1e-20 * points).tolist() == inside.tolist(), "directions alone count"


def test_finer_clusters_divide_coarser_ones(tree: ClusterTree) -> None:
    groups = tree.groups()
    assert [int(group[-1]) + 1 for group in groups] == [len(c) for c in tree.centroids]
    assert groups.dtype == np.int32
    assert len(tree.centroids[0]) == 3
    assert groups[-1].tolist() == list(range(len(tree.centroids[-1])))
    for coarse, fine in pairwise(groups):
        assert len(set(zip(fine.tolist(), coarse.tolist(), strict=True))) == fine[-1] + 1
    used = groups[:, tree.clusters(unit_points(300, 4))]
    assert [len(set(group.tolist())) for group in used] == [len(c) for c in tree.centroids]


def test_fewer_points_than_clusters() -> None:
    tree = ClusterTree.grow(unit_points(3, 4), (2, 8, 8), seed=0)
    assert [len(c) for c in tree.centroids] == [2, 3, 3]
    assert sorted(tree.clusters(unit_points(3, 4)).tolist()) == [0, 1, 2]


def test_of_equal_clusters_the_first_is_nearest() -> None:
    centroids = np.eye(2)[[0, 0, 1]]
    tree = ClusterTree([centroids[:1], centroids], [np.array([0, 3])])
    assert tree.clusters(np.eye(2)).tolist() == [0, 2]


def test_a_cluster_without_points_is_not_divided() -> None:
    """Directions that differ by less than products show are all in the first one's cluster."""
    first, last = directions(np.array([[0.3, 0.5, 0.7], [0.9, 0.1, 0.0]]))
    second = first + np.array([2.0**-54, 0.0, 0.0])
    points = np.stack([first, second, last])
    assert nearest(points, points).tolist() == [0, 0, 2]
    tree = ClusterTree.grow(points, (3, 3, 6), seed=0)
    assert [len(centroids) for centroids in tree.centroids] == [3, 3, 4]
    assert [first.tolist() for first in tree.first] == [[0, 1, 2, 3], [0, 2, 3, 4]]
    assert tree.groups().tolist() == [[0, 0, 1, 2], [0, 0, 1, 2], [0, 1, 2, 3]]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    """The clusters of the points in each round of a search, and those under what it returns."""
    numbers, products = [], module._products

    def watched(points: np.ndarray, centroids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = products(points, centroids)
        numbers.append(found[0])
        return found

    monkeypatch.setattr(module, "_products", watched)
    return numbers


def spread_points(spread: float) -> np.ndarray:
    """Five groups of them."""
    noise = spread * np.random.default_rng(4).normal(size=(300, 6))
    return directions(np.eye(5, 6)[np.arange(300) % 5] + noise)


def changes(seen: list[np.ndarray]) -> list[float]:
    """Share of the points that have another cluster in each round than before."""
    return [float((a != b).mean()) for a, b in pairwise(seen[:-1])]


@pytest.mark.parametrize("spread", [0.02, 3.0])
def test_it_ends_when_hardly_any_point_changes_its_cluster(
    spread: float, seen: list[np.ndarray]
) -> None:
    k_means(spread_points(spread), 5, seed=0)
    assert len(seen) > 2
    assert all(share > 0.001 for share in changes(seen)[:-1])
    assert changes(seen)[-1] <= 0.001 or len(seen) - 1 == 10


def test_so_many_changes_are_hardly_any(
    seen: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The share that is given is still so few."""
    k_means(spread_points(3.0), 5, seed=0)
    monkeypatch.setattr(module, "_SETTLED", changes(seen)[0])
    seen.clear()
    k_means(spread_points(3.0), 5, seed=0)
    assert len(changes(seen)) == 1


def test_one_round_does_not_show_that_it_has_ended(seen: list[np.ndarray]) -> None:
    """Although nearly all points are in one cluster."""
    few = directions(np.array([[-1.0, 0.0], [-1.0, 0.1], [0.0, 1.0]]))
    k_means(np.repeat(few, [1, 1, 2000], axis=0), 2, seed=0)
    assert len(changes(seen)) == 1


def test_it_does_not_end_with_an_empty_cluster(
    seen: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where any number of points may still change."""
    monkeypatch.setattr(module, "_SETTLED", 1.0)
    k_means(crowded_points(0), 20, seed=0)
    n_used = [len(set(numbers.tolist())) for numbers in seen[:-1]]
    assert len(n_used) > 1
    assert n_used.index(20) == len(n_used) - 1
