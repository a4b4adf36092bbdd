"""The resource behind `vector(NAME)`: word vectors as clusters at several grains.

Vectors of words are clustered when a component is initialized (`numeric.k_means`). A word belongs
to the cluster in whose direction its vector lies, seen from the mean of all vectors. Ward's tree
over the clusters gives coarser grains: of `b` bits, at most `2^b` groups of clusters.

The model file has all that words need whose codes were made in training. Other words get theirs
from the vectors of the vocabulary, where there are any.

Arrays, for `V` words, `C` clusters and vectors of `D` numbers: `keys` uint64 `[V]`, hashes of the
words; `clusters` uint16 `[V]`, the cluster of each; `mean` float32 `[D]`; `centroids` float32
`[C, D]`; `groups` uint16 `[bits, C]`, the group of each cluster at each grain, coarsest first;
`members` uint8, frequent words of each cluster, one a line, most frequent first.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ...errors import ConfigError, TemplateError
from ...features.resources import InvalidArray, Resource, Tokenize
from ...features.strings import hash_strings
from ...features.tokens import Tokens
from ...features.word_vectors import WordVectors
from ...numeric.arrays import Array, Arrays, Shapes, blocks
from ...numeric.index import KeyIndex
from ...numeric.k_means import directions, directions_from, k_means, nearest, ward_groups
from ...types import Ints1d, Ints2d, Keys1d

MEMBERS = 3
"""Words of a cluster that are kept as texts, so that explanations can show it."""
MAXIMUM_BITS = 12
_AT_ONCE = 1 << 12
"""Words whose vectors are in memory at once, besides those that are clustered."""
_NO_VECTORS = (
    "The vocabulary has no vectors, and the templates look at them with 'vector(NAME)'. Words that "
    "were not seen in training have no such features. Load the vectors with the pipeline: they "
    "are in the folder 'vocab' of one that was saved with them."
)


@dataclass(frozen=True)
class VectorClusters:
    """How vectors are clustered; registered as `spacy_cascade.VectorClusters.v1`.

    bits: there are at most `2^bits` clusters. words: so many are clustered, those of the training
    corpus by their frequency, then the first of the table of vectors. seed: of the first centroids.
    """

    bits: int = 10
    words: int = 20_000
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.bits <= MAXIMUM_BITS:
            raise TemplateError(
                f"'bits' of vectors must be from 1 to {MAXIMUM_BITS}, not {self.bits}. Mend it "
                "under [components.*.model.templates.vectors]."
            )
        if self.words < 2:
            raise TemplateError(f"'words' of vectors must be 2 or more, not {self.words}.")


VectorSource: TypeAlias = int | VectorClusters
"""What stands under `vectors` in the config; a number is `bits`."""


def clusters_from(source: VectorSource) -> VectorClusters:
    """The settings that stand under `vectors`. Raises `TemplateError` for anything else."""
    if isinstance(source, VectorClusters):
        return source
    if not isinstance(source, int) or isinstance(source, bool):
        raise TemplateError(
            f"what stands under 'vectors' is a number of bits or a "
            f"spacy_cascade.VectorClusters.v1, not {source!r}."
        )
    return VectorClusters(source)


class VectorCodes(Resource):
    """Clusters of words; the arrays are those of the module's docstring."""

    gives_word_codes = True

    def __init__(self, settings: VectorClusters, arrays: Mapping[str, Array]) -> None:
        self.settings = settings
        self._index = KeyIndex(arrays["keys"].astype(np.uint64))
        self._clusters = arrays["clusters"].astype(np.int32)
        self._mean = arrays["mean"].astype(np.float32)
        self._centroids = arrays["centroids"].astype(np.float32)
        self.groups = arrays["groups"].astype(np.int32)
        self._members = arrays["members"].astype(np.uint8)

    @classmethod
    def read(cls, name: str, settings: Any, tokenize: Tokenize) -> VectorCodes:
        """Without clusters, which `learn` makes of the vocabulary's vectors."""
        shapes = cls.shapes({}, settings).items()
        empty = {part: np.zeros(shape, dtype=kind) for part, (shape, kind) in shapes}
        return cls(clusters_from(settings), empty)

    def learn(self, tokens: Tokens, flags: Ints2d) -> VectorCodes:
        """Cluster the vectors; raises `ConfigError` where the vocabulary has none of the words."""
        vectors, settings = tokens.vectors, self.settings
        if vectors is None:
            raise _missing("has no vectors")
        texts = _words(tokens, vectors, settings.words)
        found = vectors.of(texts[: settings.words])
        found = directions(found[found.any(axis=1)])
        if len(found) < 2:
            raise _missing(f"has vectors of {len(found)} of the words")
        mean = found.mean(axis=0).astype(np.float32)
        centroids = k_means(directions_from(mean, found), 1 << settings.bits, settings.seed)
        made: Arrays = {
            **self.arrays(),
            "mean": mean,
            "centroids": centroids,
            "groups": ward_groups(centroids, _sizes(settings)),
        }
        clustered = type(self)(settings, made)
        clusters = clustered.clusters_of(texts, vectors)
        members = "\n".join(_frequent_members(texts, clusters.tolist()))
        made["members"] = np.frombuffer(members.encode(), dtype=np.uint8)
        return type(self)(settings, made)._with_words(texts, clusters)

    def add(self, tokens: Tokens, flags: Ints2d) -> VectorCodes:
        """Known words keep their clusters."""
        if tokens.vectors is None:
            return self
        texts = _words(tokens, tokens.vectors, 0)
        return self._with_words(texts, self.clusters_of(texts, tokens.vectors))

    def _with_words(self, texts: Sequence[str], clusters: Ints1d) -> VectorCodes:
        keys = hash_strings(texts)
        is_new = (clusters >= 0) & (self._index.lookup(keys) < 0)
        words: Arrays = {
            "keys": np.append(self._index.keys, keys[is_new]),
            "clusters": np.append(self._clusters, clusters[is_new]),
        }
        return type(self)(self.settings, {**self.arrays(), **words})

    def word_codes(self, texts: Sequence[str], vectors: WordVectors | None = None) -> Keys1d:
        """The number of each word's cluster, from 1; 0 where it has no vector."""
        return (self.clusters_of(texts, vectors) + 1).astype(np.uint64)

    def group_values(self, bits: int) -> Keys1d:
        """The number of each cluster's group, from 1, uint64 `[1 + C]`; 0 for no cluster."""
        return np.append(0, self.groups[bits - 1] + 1).astype(np.uint64)

    def clusters_of(self, texts: Sequence[str], vectors: WordVectors | None) -> Ints1d:
        """The cluster of each word, int32 `[n]`; -1 where it has no vector.

        Raises `ConfigError` for vectors of another width than those of training.
        """
        clusters = self._kept(texts)
        unknown = np.flatnonzero(clusters < 0)
        if vectors is None:
            if len(unknown):
                warnings.warn(_NO_VECTORS, stacklevel=2)
            return clusters
        if vectors.width != len(self._mean):
            raise ConfigError(
                f"The vectors of the vocabulary have {vectors.width} numbers each, but those that "
                f"the model was trained with have {len(self._mean)}. Load the pipeline with its "
                "own vectors, or without any."
            )
        for begin in range(0, len(unknown), _AT_ONCE):
            places = unknown[begin : begin + _AT_ONCE]
            found = vectors.of([texts[place] for place in places.tolist()])
            has_vector = found.any(axis=1)
            points = directions_from(self._mean, directions(found[has_vector]))
            clusters[places[has_vector]] = nearest(points, self._centroids.astype(np.float64))
        return clusters

    def _kept(self, texts: Sequence[str]) -> Ints1d:
        """The clusters of words of training; -1 for other words."""
        # The last one is that of words that are not found.
        return np.append(self._clusters, np.int32(-1))[self._index.lookup(hash_strings(texts))]

    def frequent_words(self, group: int, bits: int) -> list[str]:
        """The most frequent words of training in a group of a grain, most frequent first."""
        words = str(self._members.data, "utf8").split("\n")
        clusters = self._kept(words)
        inside = (clusters >= 0) & (self.groups[bits - 1, clusters] == group)
        return [words[i] for i in np.flatnonzero(inside)[:MEMBERS].tolist()]

    # Model files

    def arrays(self) -> Arrays:
        return {
            "keys": self._index.keys,
            "clusters": self._clusters.astype(np.uint16),
            "mean": self._mean,
            "centroids": self._centroids,
            "groups": self.groups.astype(np.uint16),
            "members": self._members,
        }

    @classmethod
    def shapes(cls, arrays: Mapping[str, Array], settings: Any) -> Shapes:
        sizes = {name: array.size for name, array in arrays.items()}
        n_words, width = sizes.get("keys", 0), sizes.get("mean", 0)
        n_clusters = sizes.get("centroids", 0) // max(width, 1)
        return {
            "keys": ((n_words,), "u8"),
            "clusters": ((n_words,), "u2"),
            "mean": ((width,), "f"),
            "centroids": ((n_clusters, width), "f"),
            "groups": ((clusters_from(settings).bits, n_clusters), "u2"),
            "members": ((sizes.get("members", 0),), "u1"),
        }

    @classmethod
    def check(cls, arrays: Mapping[str, Array]) -> None:
        n_clusters = len(arrays["centroids"])
        if any(block.max(initial=0) >= n_clusters for block in blocks(arrays["clusters"])):
            raise InvalidArray("clusters", "has clusters beyond its own")
        for bits, groups in enumerate(arrays["groups"], start=1):
            if groups.max(initial=0) >= 1 << bits:
                raise InvalidArray("groups", f"has more than {1 << bits} groups of {bits} bits")
        try:
            str(arrays["members"].data, "utf8")
        except UnicodeDecodeError:
            raise InvalidArray("members", "is no UTF-8 text") from None

    @classmethod
    def restore(cls, arrays: Mapping[str, Array], settings: Any) -> VectorCodes:
        return cls(clusters_from(settings), arrays)


def _missing(problem: str) -> ConfigError:
    return ConfigError(
        f"Templates look at word vectors with 'vector(NAME)', but the pipeline {problem}. Name "
        'vectors in the config, vectors = "FOLDER or PACKAGE" under [initialize], or remove these '
        "templates and 'vectors' beside them."
    )


def _sizes(settings: VectorClusters) -> list[int]:
    """Numbers of groups, one for each grain."""
    return [1 << bits for bits in range(1, settings.bits + 1)]


def _words(tokens: Tokens, vectors: WordVectors, n: int) -> list[str]:
    """The distinct words of tokens, most frequent first, then the first ones of the table.

    Of the table as many as make up `n`.
    """
    words, counts = np.unique(tokens.words, return_counts=True)
    ordered = words[np.argsort(-counts, kind="stable")].tolist()
    texts = dict.fromkeys(vectors.text_of(word) for word in ordered)
    if len(texts) < n:
        texts |= dict.fromkeys(filter(None, vectors.first_words(n)))
    return list(texts)[: max(n, len(ordered))]


def _frequent_members(texts: Sequence[str], clusters: Sequence[int]) -> Iterator[str]:
    """The first `MEMBERS` words of each cluster, in the order of the words."""
    n_members: Counter[int] = Counter()
    for text, cluster in zip(texts, clusters, strict=True):
        if cluster >= 0 and n_members[cluster] < MEMBERS and "\n" not in text:
            n_members[cluster] += 1
            yield text
