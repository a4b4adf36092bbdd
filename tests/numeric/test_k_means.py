"""Spherical k-means and its tree, against SciPy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from spacy_cascade.numeric import k_means as module
from spacy_cascade.numeric.k_means import ClusterTree, directions, k_means, nearest


def unit_points(n: int, width: int, seed: int = 0) -> np.ndarray:
    return directions(np.random.default_rng(seed).normal(size=(n, width)))


def test_directions_have_length_one() -> None:
    points = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, -2.0]], dtype=np.float32)
    assert directions(points).tolist() == [[0.6, 0.8], [0.0, 0.0], [0.0, -1.0]]


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


@pytest.mark.parametrize(("k", "times"), [(3, 2), (4, 2), (10, 50)])
def test_few_points_are_their_own_centroids(k: int, times: int) -> None:
    """Equal ones are one cluster."""
    points = unit_points(3, 4)
    found = k_means(np.repeat(points, times, axis=0), k, seed=0)
    np.testing.assert_allclose(sorted(found.tolist()), sorted(points.tolist()), rtol=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_no_cluster_is_empty(seed: int) -> None:
    """A few points lie among hundreds that are nearly equal, of which most centroids begin."""
    noise = 1e-9 * np.random.default_rng(seed).normal(size=(400, 3))
    points = np.concatenate([directions(np.array([1.0, 0, 0]) + noise), unit_points(20, 3)])
    assert len(k_means(points, 20, seed)) == 20


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


def test_finer_clusters_divide_coarser_ones(tree: ClusterTree) -> None:
    groups = tree.groups()
    assert [int(group[-1]) + 1 for group in groups] == [len(c) for c in tree.centroids]
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


@pytest.mark.parametrize("spread", [0.02, 3.0])
def test_it_ends_when_hardly_any_point_changes_its_cluster(
    spread: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last numbers are those of the centroids that it returns, so they are left out."""
    seen, products = [], module._products

    def watched(points: np.ndarray, centroids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = products(points, centroids)
        seen.append(found[0])
        return found

    monkeypatch.setattr(module, "_products", watched)
    group = np.arange(300) % 5
    noise = spread * np.random.default_rng(4).normal(size=(300, 6))
    k_means(directions(np.eye(5, 6)[group] + noise), 5, seed=0)
    changed = [(a != b).mean() for a, b in pairwise(seen[:-1])]
    assert len(seen) > 2
    assert all(share > 0.001 for share in changed[:-1])
    assert changed[-1] <= 0.001 or len(seen) - 1 == 10
