"""Clusters of vectors, and the binary tree that joins the most similar ones first."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log2
from typing import Any

import numpy as np

from ...systems.words.paths import LONGEST_PATH, ClusteredWord
from .vectors import Vectors, WordVectors

_BATCH = 8192
_ROUNDS = 30
"""Times that k-means goes through all words at most."""


def cluster_words(found: WordVectors, n_clusters: int, seed: int) -> list[ClusteredWord]:
    """The words with the path to their cluster, ordered by path, then the most frequent first.

    Vectors are divided by their length, so clusters are of like direction. A part of the clusters
    may be empty, and then has no path.
    """
    unit = _unit_length(found.vectors)
    labels, centres = _k_means(unit, min(n_clusters, len(unit)), seed)
    used, labels = np.unique(labels, return_inverse=True)
    paths = tree_paths(centres[used])
    words = zip(found.words, found.counts, labels.tolist(), strict=True)
    clustered = [ClusteredWord(paths[label], word, count) for word, count, label in words]
    return sorted(clustered, key=lambda one: (one.path, -one.count, one.word))


def _unit_length(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, np.finfo(np.float32).tiny), dtype=np.float32)


def _k_means(vectors: Vectors, n_clusters: int, seed: int) -> tuple[Any, Any]:
    """The cluster of each vector, `[W]`, and the centres, `[K, D]`.

    Sculley (2010), Web-scale k-means clustering; scikit-learn's code. It has one thread: a batch
    takes some hundredths of a second, and threads that wait for each other cost more.
    """
    from sklearn.cluster import MiniBatchKMeans
    from threadpoolctl import threadpool_limits

    k_means = MiniBatchKMeans(
        n_clusters, batch_size=_BATCH, max_iter=_ROUNDS, n_init=1, random_state=seed
    )
    with threadpool_limits(1):
        k_means.fit(vectors)
    return k_means.labels_, k_means.cluster_centers_


def tree_paths(centres: Vectors) -> list[str]:
    """The path of each cluster, of the characters 0 and 1, from the root of a binary tree.

    centres: `[K, D]`. The two parts of the tree that are most alike are joined, again and again
    (Ward 1963, Hierarchical grouping to optimize an objective function). Where a path would be
    longer than `LONGEST_PATH`, the clusters below are halved instead.
    """
    from scipy.cluster.hierarchy import to_tree, ward
    from scipy.spatial.distance import pdist

    if len(centres) == 1:
        return ["0"]
    paths = [""] * len(centres)
    stack: list[tuple[Any, str]] = [(to_tree(ward(pdist(centres))), "")]
    while stack:
        node, path = stack.pop()
        if node.is_leaf():
            paths[node.id] = path
        elif len(path) + ceil(log2(node.count)) >= LONGEST_PATH:
            _halve(node.pre_order(), path, paths)
        else:
            stack += [(node.left, path + "0"), (node.right, path + "1")]
    return paths


def _halve(clusters: Sequence[int], path: str, paths: list[str]) -> None:
    """Set the paths of clusters below a path, all of them as short as can be."""
    if len(clusters) == 1:
        paths[clusters[0]] = path
        return
    middle = (len(clusters) + 1) // 2
    _halve(clusters[:middle], path + "0", paths)
    _halve(clusters[middle:], path + "1", paths)
