"""Tables of words from vectors: of words, and of the pieces of words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...errors import CorpusError
from ...numeric.arrays import Arrays
from ...numeric.k_means import ClusterTree, directions, directions_from, k_means, nearest
from ...systems.words.pieces import WordPieces
from ...systems.words.table import About, WordTable, centroid_bytes, frequent_members
from ...types import Floats2d, Reals2d

SIZES = (64, 256, 1024, 4096)
"""Numbers of clusters, coarsest first."""
_MOST_CLUSTERED = 100_000
"""Words that clusters are made of at most, the most frequent ones; others get the nearest."""
_AT_ONCE = 1 << 14
"""Words whose directions are in memory at once."""


def table_of_vectors(
    words: Sequence[str],
    vectors: Reals2d,
    about: About,
    sizes: Sequence[int] = SIZES,
    seed: int = 0,
) -> WordTable:
    """The table of words with vectors, `[V, D]`, most frequent first; others are left out.

    The clusters of each size are made by themselves: they know more than those of a tree.
    """
    (known,) = vectors.any(axis=1).nonzero()
    words, vectors = [words[i] for i in known.tolist()], vectors[known]
    mean, points = _clustered(vectors)
    of_sizes = [k_means(points, size, seed) for size in sizes]
    clusters = np.stack(
        [
            np.concatenate([nearest(part, centroids) for part in _points(mean, vectors)])
            for centroids in of_sizes
        ]
    )
    counts = [len(centroids) for centroids in of_sizes]
    members = frequent_members(words, clusters, counts)
    arrays = {"sizes": np.array(counts, dtype=np.int32), "members": members}
    return WordTable.of(words, clusters, about, arrays)


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
    them that are better than the means of their pieces, `[V, D]`; these words are listed. Raises
    `CorpusError` where no word has a piece.
    """
    vectors = pieces.vectors(words)
    n_listed = 0 if listed is None else len(listed)
    if listed is not None:
        vectors[:n_listed] = listed
    if not vectors.any():
        raise CorpusError(
            f"No piece is part of any of the {len(words):,} words. They seem to be of another "
            "script. Give others."
        )
    mean, points = _clustered(vectors)
    tree = ClusterTree.grow(points, sizes, seed)
    finest = np.concatenate([tree.clusters(part) for part in _points(mean, vectors)])
    clusters = np.where(vectors.any(axis=1), tree.groups()[:, finest], -1)
    counts = [len(centroids) for centroids in tree.centroids]
    arrays: Arrays = {
        "sizes": np.array(counts, dtype=np.int32),
        "members": frequent_members(words, clusters, counts),
        "groups": tree.groups().astype(np.uint16),
        "mean": mean.astype(np.float32),
        "centroids": centroid_bytes(tree),
        **pieces.arrays(),
    }
    return WordTable.of(words[:n_listed], clusters[:, :n_listed], about, arrays)


def _clustered(vectors: Reals2d) -> tuple[Floats2d, Floats2d]:
    """The mean direction of vectors, and the directions from it that clusters are made of."""
    seen = directions(vectors[vectors.any(axis=1)][:_MOST_CLUSTERED])
    mean = seen.mean(axis=0)
    return mean, directions_from(mean, seen)


def _points(mean: Floats2d, vectors: Reals2d) -> Iterator[Floats2d]:
    """Directions of vectors from the mean, some thousands at a time."""
    for begin in range(0, len(vectors), _AT_ONCE):
        yield directions_from(mean, directions(vectors[begin : begin + _AT_ONCE]))
