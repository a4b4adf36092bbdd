"""The resource behind `vector(NAME)`: word vectors as clusters at several grains.

Vectors of words are clustered when a component is initialized (`numeric.k_means`). A word belongs
to the cluster in whose direction its vector lies, seen from the mean of all vectors. Ward's tree
over the clusters gives coarser grains: of `b` bits, at most `2^b` groups of clusters.

The model file has all that words need whose codes were made in training. Other words get theirs
from the vectors of the vocabulary, where there are any.

Arrays, besides those of all tables, for `C` clusters and vectors of `D` numbers: `mean` float32
`[D]`; `centroids` float32 `[C, D]`; `groups` uint16 `[bits, C]`, the group of each cluster at each
grain, coarsest first.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ConfigError, TemplateError
from ...features.resources import InvalidArray, Tokenize
from ...features.strings import hash_strings
from ...features.tokens import Tokens
from ...features.word_vectors import WordVectors
from ...numeric.arrays import Array, Arrays, Shapes
from ...numeric.k_means import directions, directions_from, k_means, nearest, ward_groups
from ...types import Ints1d, Ints2d, Keys1d
from .table import WordTable, frequent_members

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


class VectorCodes(WordTable):
    """Clusters of words by their vectors."""

    def __init__(self, settings: VectorClusters, arrays: Mapping[str, Array]) -> None:
        super().__init__(settings, arrays)
        self._mean = arrays["mean"].astype(np.float32)
        self._centroids = arrays["centroids"].astype(np.float32)
        self.groups = arrays["groups"].astype(np.int32)

    @classmethod
    def settings_from(cls, source: Any) -> VectorClusters:
        """The settings that stand under `vectors`. Raises `TemplateError` for anything else."""
        if isinstance(source, VectorClusters):
            return source
        if not isinstance(source, int) or isinstance(source, bool):
            raise TemplateError(
                f"what stands under 'vectors' is a number of bits or a "
                f"spacy_cascade.VectorClusters.v1, not {source!r}."
            )
        return VectorClusters(source)

    @classmethod
    def check_grain(cls, settings: Any, name: str, bits: int | None) -> None:
        if bits is not None and bits > settings.bits:
            raise TemplateError(
                f"the vectors '{name}' have grains of 1 to {settings.bits} bits, not {bits}. "
                "Mend the template, or raise the bits under 'vectors'."
            )

    @classmethod
    def read(cls, name: str, settings: Any, tokenize: Tokenize) -> VectorCodes:
        """Without clusters, which `learn` makes of the vocabulary's vectors."""
        shapes = cls.shapes({}, settings).items()
        empty = {part: np.zeros(shape, dtype=kind) for part, (shape, kind) in shapes}
        return cls(cls.settings_from(settings), empty)

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
            "groups": ward_groups(centroids, [1 << n for n in range(1, settings.bits + 1)]),
        }
        clustered = type(self)(settings, made)
        clusters = clustered.clusters_of(texts, vectors)
        made["members"] = frequent_members(texts, clusters.tolist())
        return type(self)(settings, made)._with_words(texts, clusters)

    def add(self, tokens: Tokens, flags: Ints2d) -> VectorCodes:
        """Known words keep their clusters."""
        if tokens.vectors is None:
            return self
        texts = _words(tokens, tokens.vectors, 0)
        return self._with_words(texts, self.clusters_of(texts, tokens.vectors))

    def _with_words(self, texts: Sequence[str], clusters: Ints1d) -> VectorCodes:
        keys = hash_strings(texts)
        is_new = (clusters >= 0) & (self.index.lookup(keys) < 0)
        words: Arrays = {
            "keys": np.append(self.index.keys, keys[is_new]),
            "clusters": np.append(self.clusters, clusters[is_new]),
        }
        return type(self)(self.settings, {**self.arrays(), **words})

    def values_of_clusters(self, bits: int | None) -> Keys1d:
        """The number of each cluster's group, from 1."""
        return (self._groups(bits) + 1).astype(np.uint64)

    def name_of(self, cluster: int, bits: int | None) -> str:
        return str(self._groups(bits)[cluster] + 1)

    def _groups(self, bits: int | None) -> Ints1d:
        groups: Ints1d = self.groups[(self.settings.bits if bits is None else bits) - 1]
        return groups

    def clusters_of(self, texts: Sequence[str], vectors: WordVectors | None = None) -> Ints1d:
        """The cluster of each word, int32 `[n]`; -1 where it has no vector.

        Raises `ConfigError` for vectors of another width than those of training.
        """
        clusters = self.known_clusters(texts)
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

    # Model files

    def arrays(self) -> Arrays:
        return {
            **super().arrays(),
            "mean": self._mean,
            "centroids": self._centroids,
            "groups": self.groups.astype(np.uint16),
        }

    @classmethod
    def shapes(cls, arrays: Mapping[str, Array], settings: Any) -> Shapes:
        width = arrays["mean"].size if "mean" in arrays else 0
        n_clusters = arrays["centroids"].size // max(width, 1) if "centroids" in arrays else 0
        return {
            **super().shapes(arrays, settings),
            "mean": ((width,), "f"),
            "centroids": ((n_clusters, width), "f"),
            "groups": ((cls.settings_from(settings).bits, n_clusters), "u2"),
        }

    @classmethod
    def n_clusters(cls, arrays: Mapping[str, Array]) -> int:
        return len(arrays["centroids"])

    @classmethod
    def check(cls, arrays: Mapping[str, Array]) -> None:
        super().check(arrays)
        for bits, groups in enumerate(arrays["groups"], start=1):
            if groups.max(initial=0) >= 1 << bits:
                raise InvalidArray("groups", f"has more than {1 << bits} groups of {bits} bits")


def _missing(problem: str) -> ConfigError:
    return ConfigError(
        f"Templates look at word vectors with 'vector(NAME)', but the pipeline {problem}. Name "
        'vectors in the config, vectors = "FOLDER or PACKAGE" under [initialize], or remove these '
        "templates and 'vectors' beside them."
    )


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
