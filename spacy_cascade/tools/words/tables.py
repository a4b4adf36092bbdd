"""Tables of words from vectors: of words, and of the pieces of words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...numeric.k_means import ClusterTree, directions, directions_from
from ...systems.words.pieces import WordPieces
from ...systems.words.table import About, WordTable, centroid_bytes, frequent_members
from ...types import Floats2d, Reals2d

SIZES = (64, 256, 1024, 4096)
"""Numbers of clusters, coarsest first."""
_MOST_CLUSTERED = 100_000
"""Words that clusters are made of, the most frequent ones; others get the nearest."""
_AT_ONCE = 1 << 14


def table_of_vectors(
    words: Sequence[str],
    vectors: Reals2d,
    about: About,
    sizes: Sequence[int] = SIZES,
    seed: int = 0,
) -> WordTable:
    """The table of words with vectors, `[V, D]`, most frequent first."""
    mean, tree = _grown(vectors, sizes, seed)
    clusters = np.concatenate([tree.clusters(part) for part in _points(mean, vectors)])
    frequent = frequent_members(words, clusters.tolist(), tree.groups())
    return WordTable.of(words, clusters, tree.groups(), frequent, about)


def table_of_pieces(
    pieces: WordPieces,
    words: Sequence[str],
    about: About,
    sizes: Sequence[int] = SIZES,
    seed: int = 0,
    listed: Reals2d | None = None,
) -> WordTable:
    """The table of all words that pieces make.

    words: those that clusters are made of, most frequent first. listed: vectors of the first of
    them that are better than the means of their pieces, `[V, D]`; these words are listed.
    """
    vectors = pieces.vectors(words)
    n_listed = 0 if listed is None else len(listed)
    if listed is not None:
        vectors[:n_listed] = listed
    mean, tree = _grown(vectors, sizes, seed)
    # As the table will have them: rounded.
    of_pieces = {
        **pieces.arrays(), "mean": mean.astype(np.float32), "centroids": centroid_bytes(tree),
    }  # fmt: skip
    clusters = np.concatenate([tree.clusters(part) for part in _points(mean, vectors)])
    groups, frequent = tree.groups(), frequent_members(words, clusters.tolist(), tree.groups())
    return WordTable.of(words[:n_listed], clusters[:n_listed], groups, frequent, about, of_pieces)


def _grown(vectors: Reals2d, sizes: Sequence[int], seed: int) -> tuple[Floats2d, ClusterTree]:
    """The mean direction of vectors, and the clusters of their directions from it."""
    seen = directions(vectors[:_MOST_CLUSTERED])
    seen = seen[seen.any(axis=1)]
    mean = seen.mean(axis=0)
    return mean, ClusterTree.grow(directions_from(mean, seen), sizes, seed)


def _points(mean: Floats2d, vectors: Reals2d) -> list[Floats2d]:
    """Directions of vectors from the mean, some thousands at a time."""
    begins = range(0, len(vectors), _AT_ONCE)
    return [directions_from(mean, directions(vectors[b : b + _AT_ONCE])) for b in begins]
