"""Tables of words: groups of words, coarse and fine, that a template looks at.

A table puts each word that it knows into a *cluster*, and the clusters into groups at several
grains; a grain is a number of bits. Another kind of word knowledge is a subclass of `WordTable`,
and an attribute of one line each (`systems.words.attributes`).

Arrays that all tables have, for `V` words: `keys` uint64 `[V]`, hashes of the words; `clusters`
uint16 `[V]`, the cluster of each; `members` uint8, frequent words of each cluster, one a line, most
frequent first.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...features.resources import InvalidArray, Resource
from ...features.strings import hash_strings
from ...features.word_vectors import WordVectors
from ...numeric.arrays import Array, Arrays, Shapes, blocks
from ...numeric.index import KeyIndex
from ...types import Ints1d, Keys1d

MEMBERS = 3
"""Words of a cluster that are kept as texts, so that explanations can show it."""


class WordTable(Resource):
    """A table; it is not changed. arrays: those of its kind, with at least those named above."""

    gives_word_codes = True

    def __init__(self, settings: Any, arrays: Mapping[str, Array]) -> None:
        self.settings = settings
        self.index = KeyIndex(arrays["keys"].astype(np.uint64))
        self.clusters = arrays["clusters"].astype(np.int32)
        self._members = arrays["members"].astype(np.uint8)
        self._values: dict[int | None, Keys1d] = {}

    @classmethod
    @abstractmethod
    def settings_from(cls, source: Any) -> Any:
        """What the config says about a table, checked; raises `TemplateError`."""

    @classmethod
    def check_grain(cls, settings: Any, name: str, bits: int | None) -> None:
        """Raise `TemplateError` for a grain that the table `name` will not have."""

    @abstractmethod
    def values_of_clusters(self, bits: int | None) -> Keys1d:
        """The value of each cluster's group at a grain, uint64 `[C]`, not 0; None: the finest."""

    @abstractmethod
    def name_of(self, cluster: int, bits: int | None) -> str:
        """The group of a cluster, for readers."""

    def group_values(self, bits: int | None) -> Keys1d:
        """The value for each number of `word_codes`, uint64 `[1 + C]`; 0 for no cluster."""
        if bits not in self._values:
            self._values[bits] = np.append(np.uint64(0), self.values_of_clusters(bits))
        return self._values[bits]

    def known_clusters(self, texts: Iterable[str]) -> Ints1d:
        """The cluster of each word as it is written, int32 `[n]`; -1 where the table has it not."""
        # The last one is that of words that are not found.
        return np.append(self.clusters, np.int32(-1))[self.index.lookup(hash_strings(texts))]

    def clusters_of(self, texts: Sequence[str], vectors: WordVectors | None = None) -> Ints1d:
        """The cluster of each word, int32 `[n]`; -1 for none. vectors: of the vocabulary."""
        return self.known_clusters(texts)

    def word_codes(self, texts: Sequence[str], vectors: WordVectors | None = None) -> Keys1d:
        """The number of each word's cluster, from 1; 0 where it is in none."""
        return (self.clusters_of(texts, vectors) + 1).astype(np.uint64)

    def describe(self, value: int, bits: int | None) -> str | None:
        """A value of a grain with the most frequent words of the group; None for no group."""
        (inside,) = np.nonzero(self.group_values(bits)[1:] == value)
        if not len(inside):
            return None
        words = str(self._members.data, "utf8").split("\n")
        (places,) = np.nonzero(np.isin(self.known_clusters(words), inside))
        shown = ", ".join(words[place] for place in places[:MEMBERS].tolist())
        return f"{self.name_of(int(inside[0]), bits)} ({shown})"

    # Model files

    def arrays(self) -> Arrays:
        return {
            "keys": self.index.keys,
            "clusters": self.clusters.astype(np.uint16),
            "members": self._members,
        }

    @classmethod
    def shapes(cls, arrays: Mapping[str, Array], settings: Any) -> Shapes:
        n_words = (arrays["keys"].size if "keys" in arrays else 0,)
        n_bytes = (arrays["members"].size if "members" in arrays else 0,)
        return {"keys": (n_words, "u8"), "clusters": (n_words, "u2"), "members": (n_bytes, "u1")}

    @classmethod
    @abstractmethod
    def n_clusters(cls, arrays: Mapping[str, Array]) -> int:
        """How many clusters the arrays have."""

    @classmethod
    def check(cls, arrays: Mapping[str, Array]) -> None:
        n_clusters = cls.n_clusters(arrays)
        if any(block.max(initial=0) >= n_clusters for block in blocks(arrays["clusters"])):
            raise InvalidArray("clusters", "has clusters beyond its own")
        try:
            str(arrays["members"].data, "utf8")
        except UnicodeDecodeError:
            raise InvalidArray("members", "is no UTF-8 text") from None

    @classmethod
    def restore(cls, arrays: Mapping[str, Array], settings: Any) -> WordTable:
        return cls(cls.settings_from(settings), arrays)


def frequent_members(texts: Iterable[str], clusters: Iterable[int]) -> Array:
    """`members`: the first `MEMBERS` words of each cluster, in the order of the words."""
    n_members: Counter[int] = Counter()
    kept = []
    for text, cluster in zip(texts, clusters, strict=True):
        if cluster >= 0 and n_members[cluster] < MEMBERS and "\n" not in text:
            n_members[cluster] += 1
            kept.append(text)
    return np.frombuffer("\n".join(kept).encode(), dtype=np.uint8)
