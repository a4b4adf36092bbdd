"""The resource behind `cluster(NAME)`: clusters of words that were learned from unlabelled text.

Words are kept as hashes of the forms that the file has. A word that is not among them is looked up
in lower case, then with all digits as 0, then both: clusters of other tools often have one of
these forms only.

Arrays: `keys` uint64 `[V]`, hashes of the words; `clusters` uint16 `[V]`, the cluster of each;
`paths` uint64 `[C]`, the path of each cluster as a number in base 2 after a leading 1; `members`
uint8, the most frequent words of each cluster, `MEMBERS` lines for each of them, some perhaps
empty; `member_counts` int32 `[C, MEMBERS]`, how often each was seen.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ...errors import TemplateError
from ...features.resources import InvalidArray, Resource, Tokenize
from ...features.strings import hash_strings, is_valid
from ...features.word_vectors import WordVectors
from ...numeric.arrays import Array, Arrays, Shapes, blocks
from ...numeric.index import KeyIndex
from ...types import Ints2d, Keys1d
from .paths import LONGEST_PATH, ClusteredWord, read_paths

MEMBERS = 3
"""Words of a cluster that are kept as texts, so that explanations can show it."""
MAXIMUM_CLUSTERS = 1 << 16
_LARGEST_COUNT = np.iinfo(np.int32).max
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class ClusterFile:
    """A file of clusters with an option; registered as `spacy_cascade.ClusterFile.v1`.

    source: path of the file. min_count: rarer words are left out, which makes the model smaller.
    """

    source: str
    min_count: int = 1


ClusterSource: TypeAlias = str | ClusterFile
"""What stands under `clusters` in the config."""


def file_from(source: ClusterSource) -> ClusterFile:
    """The settings that stand under `clusters`. Raises `TemplateError` for anything else."""
    if isinstance(source, ClusterFile):
        return source
    if not isinstance(source, str | Path):
        raise TemplateError(
            "what stands under 'clusters' is the path of a file or a "
            f"spacy_cascade.ClusterFile.v1, not {source!r}."
        )
    return ClusterFile(str(source))


def forms(text: str) -> tuple[str, str, str, str]:
    """How a word is looked up, one after the other."""
    lower = text.lower()
    return text, lower, _DIGIT.sub("0", text), _DIGIT.sub("0", lower)


class WordClusters(Resource):
    """Paths of words; the arrays are those of the module's docstring."""

    gives_word_codes = True

    def __init__(
        self, index: KeyIndex, clusters: Array, paths: Keys1d, members: Array, counts: Ints2d
    ) -> None:
        self.index, self.clusters, self.paths = index, clusters, paths
        self.members, self.member_counts = members, counts
        self._path_values: dict[int | None, Keys1d] = {}

    def __reduce__(self) -> tuple[type[WordClusters], tuple[object, ...]]:
        arrays = (self.clusters, self.paths, self.members, self.member_counts)
        return WordClusters, (self.index, *arrays)

    @classmethod
    def read(cls, name: str, settings: Any, tokenize: Tokenize = str.split) -> WordClusters:
        """Of a word that is listed twice, the line with the greater count is taken."""
        listed = file_from(settings)
        found: dict[str, ClusteredWord] = {}
        for line in read_paths(name, listed.source):
            if line.count >= listed.min_count and is_valid(line.word):
                earlier = found.get(line.word)
                if earlier is None or line.count > earlier.count:
                    found[line.word] = line
        if not found:
            raise TemplateError(
                f"The clusters '{name}' have no words"
                + (f" that were seen {listed.min_count} times" if listed.min_count > 1 else "")
                + f" ({listed.source}). Give a file of clusters that has some."
            )
        return cls.of(name, list(found.values()))

    @classmethod
    def of(cls, name: str, words: Sequence[ClusteredWord]) -> WordClusters:
        """Build from distinct words. Raises `TemplateError` where there are too many clusters."""
        number: dict[str, int] = {}
        clusters = [number.setdefault(word.path, len(number)) for word in words]
        if len(number) > MAXIMUM_CLUSTERS:
            raise TemplateError(
                f"The clusters '{name}' are {len(number):,}; there can be {MAXIMUM_CLUSTERS:,}. "
                "Cut the paths shorter, or make fewer clusters."
            )
        members, counts = _most_frequent(words, clusters, len(number))
        return cls(
            KeyIndex(hash_strings(word.word for word in words)),
            np.array(clusters, dtype=np.uint16),
            np.array([int(f"1{path}", 2) for path in number], dtype=np.uint64),
            members,
            counts,
        )

    def word_codes(self, texts: Sequence[str], vectors: WordVectors | None = None) -> Keys1d:
        """The number of each word's cluster, from 1; 0 where the word is in none."""
        found = np.zeros(len(texts), dtype=np.uint64)
        places = np.arange(len(texts))
        for column in zip(*map(forms, texts), strict=True):
            entries = self.index.lookup(hash_strings(column[place] for place in places.tolist()))
            is_known = entries >= 0
            found[places[is_known]] = self.clusters[entries[is_known]].astype(np.uint64) + 1
            places = places[~is_known]
        return found

    def path_values(self, bits: int | None) -> Keys1d:
        """The value of each path, cut after so many bits, uint64 `[1 + C]`; 0 for no cluster."""
        if bits not in self._path_values:
            cut = [self.path(cluster)[:bits] for cluster in range(len(self.paths))]
            self._path_values[bits] = hash_strings([None, *cut])
        return self._path_values[bits]

    def path(self, cluster: int) -> str:
        """The path of a cluster, of the characters 0 and 1."""
        return f"{int(self.paths[cluster]):b}"[1:]

    def most_frequent(self, prefix: str) -> list[str]:
        """The most frequent words of all clusters whose paths begin so."""
        texts = str(self.members.data, "utf8").split("\n")
        inside = [c for c in range(len(self.paths)) if self.path(c).startswith(prefix)]
        places = [(c, k) for c in inside for k in range(MEMBERS) if texts[c * MEMBERS + k]]
        first = nlargest(MEMBERS, places, key=lambda place: int(self.member_counts[place]))
        return [texts[c * MEMBERS + k] for c, k in first]

    def arrays(self) -> Arrays:
        return {
            "keys": self.index.keys,
            "clusters": self.clusters,
            "paths": self.paths,
            "members": self.members,
            "member_counts": self.member_counts,
        }

    @classmethod
    def shapes(cls, arrays: Mapping[str, Array], settings: Any) -> Shapes:
        sizes = {name: array.size for name, array in arrays.items()}
        n_words, n_clusters = sizes.get("keys", 0), sizes.get("paths", 0)
        return {
            "keys": ((n_words,), "u8"),
            "clusters": ((n_words,), "u2"),
            "paths": ((n_clusters,), "u8"),
            "members": ((sizes.get("members", 0),), "u1"),
            "member_counts": ((n_clusters, MEMBERS), "i4"),
        }

    @classmethod
    def check(cls, arrays: Mapping[str, Array]) -> None:
        n_clusters = arrays["paths"].size
        if any(block.max(initial=0) >= n_clusters for block in blocks(arrays["clusters"])):
            raise InvalidArray("clusters", "has clusters beyond its own")
        beyond = np.uint64(2 << LONGEST_PATH)
        if any((block < 2).any() or (block >= beyond).any() for block in blocks(arrays["paths"])):
            raise InvalidArray("paths", "has numbers that are no paths")
        try:
            str(arrays["members"].data, "utf8")
        except UnicodeDecodeError:
            raise InvalidArray("members", "is no UTF-8 text") from None
        if np.count_nonzero(arrays["members"] == ord("\n")) != max(0, n_clusters * MEMBERS - 1):
            raise InvalidArray("members", f"has not {MEMBERS} lines for each cluster")

    @classmethod
    def restore(cls, arrays: Mapping[str, Array], settings: Any) -> WordClusters:
        return cls(
            KeyIndex(arrays["keys"].astype(np.uint64)),
            arrays["clusters"].astype(np.uint16),
            arrays["paths"].astype(np.uint64),
            arrays["members"].astype(np.uint8),
            arrays["member_counts"].astype(np.int32),
        )


def _most_frequent(
    words: Iterable[ClusteredWord], clusters: Iterable[int], n_clusters: int
) -> tuple[Array, Ints2d]:
    """`members` and `member_counts`: the most frequent words of each cluster."""
    inside: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
    for word, cluster in zip(words, clusters, strict=True):
        if "\n" not in word.word:
            inside[cluster].append((-min(word.count, _LARGEST_COUNT), word.word))
    lines: list[str] = []
    counts = np.zeros((n_clusters, MEMBERS), dtype=np.int32)
    for cluster in range(n_clusters):
        first = sorted(inside[cluster])[:MEMBERS]
        lines += [word for _, word in first] + [""] * (MEMBERS - len(first))
        counts[cluster, : len(first)] = [-count for count, _ in first]
    return np.frombuffer("\n".join(lines).encode(), dtype=np.uint8), counts
