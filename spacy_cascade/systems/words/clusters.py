"""The resource behind `cluster(NAME)`: clusters of words that were learned from unlabelled text.

Words are kept as hashes of the forms that the file has. A word that is not among them is looked up
in lower case, then with all digits as 0, then both: clusters of other tools often have one of
these forms only.

Arrays, besides those of all tables: `paths` uint64 `[C]`, the path of each cluster as a number in
base 2 after a leading 1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import TemplateError
from ...features.resources import InvalidArray, Tokenize
from ...features.strings import hash_strings, is_valid
from ...features.word_vectors import WordVectors
from ...numeric.arrays import Array, Arrays, Shapes, blocks
from ...types import Ints1d, Keys1d
from .paths import LONGEST_PATH, ClusteredWord, read_paths
from .table import WordTable, frequent_members

MAXIMUM_CLUSTERS = 1 << 16
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class ClusterFile:
    """A file of clusters with an option; registered as `spacy_cascade.ClusterFile.v1`.

    source: path of the file. min_count: rarer words are left out, which makes the model smaller.
    """

    source: str
    min_count: int = 1


def forms(text: str) -> tuple[str, str, str, str]:
    """How a word is looked up, one after the other."""
    lower = text.lower()
    return text, lower, _DIGIT.sub("0", text), _DIGIT.sub("0", lower)


class WordClusters(WordTable):
    """Paths of words."""

    def __init__(self, settings: ClusterFile, arrays: Mapping[str, Array]) -> None:
        super().__init__(settings, arrays)
        self.paths = arrays["paths"].astype(np.uint64)

    @classmethod
    def settings_from(cls, source: Any) -> ClusterFile:
        """The settings that stand under `clusters`. Raises `TemplateError` for anything else."""
        if isinstance(source, ClusterFile):
            return source
        if not isinstance(source, str | Path):
            raise TemplateError(
                "what stands under 'clusters' is the path of a file or a "
                f"spacy_cascade.ClusterFile.v1, not {source!r}."
            )
        return ClusterFile(str(source))

    @classmethod
    def read(cls, name: str, settings: Any, tokenize: Tokenize = str.split) -> WordClusters:
        """Of a word that is listed twice, the line with the greater count is taken."""
        listed = cls.settings_from(settings)
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
        return cls.of(name, list(found.values()), listed)

    @classmethod
    def of(cls, name: str, words: Sequence[ClusteredWord], listed: ClusterFile) -> WordClusters:
        """Build from distinct words. Raises `TemplateError` where there are too many clusters."""
        number: dict[str, int] = {}
        clusters = [number.setdefault(word.path, len(number)) for word in words]
        if len(number) > MAXIMUM_CLUSTERS:
            raise TemplateError(
                f"The clusters '{name}' are {len(number):,}; there can be {MAXIMUM_CLUSTERS:,}. "
                "Cut the paths shorter, or make fewer clusters."
            )
        ranked = sorted(words, key=lambda word: (-word.count, word.word))
        members = frequent_members((w.word for w in ranked), (number[w.path] for w in ranked))
        arrays: Arrays = {
            "keys": hash_strings(word.word for word in words),
            "clusters": np.array(clusters, dtype=np.uint16),
            "paths": np.array([int(f"1{path}", 2) for path in number], dtype=np.uint64),
            "members": members,
        }
        return cls(listed, arrays)

    def clusters_of(self, texts: Sequence[str], vectors: WordVectors | None = None) -> Ints1d:
        """The cluster of each word in the first of its forms that the file has."""
        found = np.full(len(texts), -1, dtype=np.int32)
        for column in zip(*map(forms, texts), strict=True):
            (places,) = np.nonzero(found < 0)
            found[places] = self.known_clusters(column[place] for place in places.tolist())
        return found

    def values_of_clusters(self, bits: int | None) -> Keys1d:
        """Hashes of the paths, cut after so many bits."""
        return hash_strings(self.name_of(cluster, bits) for cluster in range(len(self.paths)))

    def name_of(self, cluster: int, bits: int | None) -> str:
        """The path of a cluster, of the characters 0 and 1, or its first bits."""
        return f"{int(self.paths[cluster]):b}"[1:][:bits]

    # Model files

    def arrays(self) -> Arrays:
        return {**super().arrays(), "paths": self.paths}

    @classmethod
    def shapes(cls, arrays: Mapping[str, Array], settings: Any) -> Shapes:
        n_clusters = arrays["paths"].size if "paths" in arrays else 0
        return {**super().shapes(arrays, settings), "paths": ((n_clusters,), "u8")}

    @classmethod
    def n_clusters(cls, arrays: Mapping[str, Array]) -> int:
        return int(arrays["paths"].size)

    @classmethod
    def check(cls, arrays: Mapping[str, Array]) -> None:
        super().check(arrays)
        beyond = np.uint64(2 << LONGEST_PATH)
        if any((block < 2).any() or (block >= beyond).any() for block in blocks(arrays["paths"])):
            raise InvalidArray("paths", "has numbers that are no paths")
