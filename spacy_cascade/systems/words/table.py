"""Tables of words: clusters of words at several sizes, which templates see as `cluster(NAME)`.

Each word that a table knows is in one of its finest *clusters*, and these are parts of coarser
ones. The words are listed, or have vectors by their pieces (`systems.words.pieces`), or both: then
words that are not listed have their cluster by their pieces.

Arrays, for `V` listed words, `C` finest clusters and `S` sizes: `keys` uint64 `[V]`, hashes of the
words; `clusters` uint16 `[V]`, the cluster of each; `groups` uint16 `[S, C]`, the cluster of each
size that a finest one is part of, coarsest first, in ascending order; `members` uint8, frequent
words of the clusters of all sizes, a line for each, coarsest first; `about` uint8, JSON. With
pieces also theirs; `mean` float32 `[D]`; `centroids` uint8 `[N, D]`, directions from the mean for
the clusters of all sizes, with 128 for zero.
"""

from __future__ import annotations

import itertools
import json
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ...caching import cached_property
from ...errors import TemplateError
from ...features.resources import FlaggedTokens, InvalidArray, Resource, Tokenize
from ...features.strings import hash_strings
from ...numeric.arrays import Array, Arrays, Shapes, blocks
from ...numeric.index import KeyIndex
from ...numeric.k_means import ClusterTree, directions, directions_from
from ...types import Ints1d, Ints2d, Keys1d, Pointers1d, Reals2d
from . import pieces as piece_arrays
from .pieces import ZERO, WordPieces, bytes_of, check_text, texts_of

MOST_SIZES = 4
MOST_CLUSTERS = 1 << 16
MOST_CLUSTERED = 100_000
"""Words that clusters are made of at most, the most frequent ones; others get the nearest."""
MEMBERS = 3
"""Words of a cluster that are kept as texts, so that explanations can show it."""
_FEW = 0.2
"""With a smaller share of the words of a corpus, a table is of another language or kind."""
_AT_ONCE = 1 << 14
"""Words whose directions are in memory at once."""
_MOST_KNOWN = 1 << 16
"""Words whose clusters are kept."""
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class About:
    """Where a table comes from, for the meta of pipelines; is_lower: its pieces are (`pieces`)."""

    name: str = ""
    url: str = ""
    author: str = ""
    license: str = ""
    is_lower: bool = False


_FORMS: tuple[Callable[[str], str | None], ...] = (
    str.lower,
    lambda text: _zeros(text),
    lambda text: _zeros(text.lower()),
)
"""How a word is looked up that is not listed: many lists have one of these forms only."""


def _zeros(text: str) -> str | None:
    """A word with its digits as zeros, None where it has none."""
    zeros = _DIGIT.sub("0", text)
    return None if zeros == text else zeros


class WordTable(Resource):
    """A table; it is not changed. settings: the path that it was read from."""

    gives_word_codes = True

    def __init__(self, settings: Any, arrays: Mapping[str, Array]) -> None:
        self.settings = settings
        self._arrays = dict(arrays)
        self._index = KeyIndex(arrays["keys"].astype(np.uint64))
        # The last one is that of words that are not found.
        self._clusters = np.append(arrays["clusters"].astype(np.int32), np.int32(-1))
        self.groups = arrays["groups"].astype(np.int32)
        self.about = About(**json.loads(str(arrays["about"].data, "utf8")))
        self._known: dict[str, int] = {}
        self.pieces, self._tree = None, None
        if "rows" in arrays:
            self.pieces = WordPieces(arrays, self.about.is_lower)
            self._tree = _tree_of(self.groups, arrays["centroids"])

    @classmethod
    def of(
        cls, words: Sequence[str], clusters: Ints1d, about: About, arrays: Mapping[str, Array]
    ) -> WordTable:
        """Of distinct listed words with their clusters, int32 `[V]`.

        arrays: at least `groups` and `members`; with pieces also theirs, `mean` and `centroids`.
        Raises `TemplateError` where there are too many clusters or sizes.
        """
        groups = arrays["groups"]
        if groups.shape[1] > MOST_CLUSTERS or len(groups) > MOST_SIZES:
            raise TemplateError(
                f"A table of words has {MOST_CLUSTERS:,} clusters and {MOST_SIZES} sizes of them "
                f"at most; this one has {groups.shape[1]:,} and {len(groups)}. Make fewer."
            )
        described = json.dumps(asdict(about)).encode()
        listed: Arrays = {
            "keys": hash_strings(words),
            "clusters": np.asarray(clusters, dtype=np.uint16),
            "about": np.frombuffer(described, dtype=np.uint8),
        }
        return cls(None, {**listed, **arrays, "groups": groups.astype(np.uint16)})

    @classmethod
    def read(cls, name: str, settings: Any, tokenize: Tokenize = str.split) -> WordTable:
        from .files import read_table

        return cls(settings, read_table(name, str(settings)).arrays())

    def learn_in_blocks(self, blocks: FlaggedTokens) -> WordTable:
        """The same table; warns where it knows few of the words of the corpus."""
        words: set[str] = set()
        for tokens, _ in blocks():
            assert tokens.text_of is not None
            words.update(map(tokens.text_of, np.unique(tokens.words).tolist()))
        if words and (share := self.share(sorted(words))) < _FEW:
            warnings.warn(too_few(self.about.name, share), stacklevel=2)
        return self

    def share(self, texts: Sequence[str]) -> float:
        """The share of words that are in a cluster."""
        return float((self.clusters_of(texts) >= 0).mean()) if texts else 0.0

    def source(self) -> dict[str, str]:
        about = asdict(self.about)
        return {name: about[name] for name in ("name", "url", "author", "license")}

    @property
    def sizes(self) -> list[int]:
        """Numbers of clusters, coarsest first."""
        return [int(groups[-1]) + 1 for groups in self.groups]

    # Words

    def clusters_of(self, texts: Sequence[str]) -> Ints1d:
        """The finest cluster of each word, int32 `[n]`; -1 for none.

        A listed word counts in the first of its forms that is listed.
        """
        clusters = self._listed(texts)
        for form in _FORMS if len(self._index) else ():
            (unknown,) = np.nonzero(clusters < 0)
            clusters[unknown] = self._listed([form(texts[i]) for i in unknown.tolist()])
        if self.pieces is not None and self._tree is not None:
            (unknown,) = np.nonzero(clusters < 0)
            vectors = self.pieces.vectors([texts[i] for i in unknown.tolist()])
            has_vector = vectors.any(axis=1)
            points = directions_from(self._arrays["mean"], directions(vectors[has_vector]))
            clusters[unknown[has_vector]] = self._tree.clusters(points.astype(np.float32))
        return clusters

    def _listed(self, texts: Iterable[str | None]) -> Ints1d:
        return self._clusters[self._index.lookup(hash_strings(texts))]

    def word_codes(self, texts: Sequence[str]) -> Keys1d:
        """The number of each word's finest cluster, from 1; 0 where it is in none."""
        # The next component of a pipeline asks for the same words.
        known = self._known if len(self._known) < _MOST_KNOWN else {}
        new = [text for text in texts if text not in known]
        if new:
            known.update(zip(new, (self.clusters_of(new) + 1).tolist(), strict=True))
            self._known = known
        return np.array([known[text] for text in texts], dtype=np.uint64)

    def values(self, size: int) -> Keys1d:
        """For each number of `word_codes` the cluster of a size, from 1, uint64 `[1 + C]`.

        size: 0 for the coarsest. Zeros where the table has fewer sizes.
        """
        if size >= len(self.groups):
            return np.zeros(1 + self.groups.shape[1], dtype=np.uint64)
        return np.append(np.uint64(0), (self.groups[size] + 1).astype(np.uint64))

    def describe(self, value: int, size: int) -> str | None:
        """A cluster of a size with its most frequent words; None for none."""
        if value == 0 or size >= len(self.groups):
            return None
        words = self._members[sum(self.sizes[:size]) + value - 1].split("\t")
        return f"{value} ({', '.join(words)})"

    @cached_property
    def _members(self) -> list[str]:
        return texts_of(self._arrays["members"])

    # Model files

    def arrays(self) -> Arrays:
        return dict(self._arrays)

    @classmethod
    def shapes(cls, arrays: Mapping[str, Array], settings: Any) -> Shapes:
        def size(name: str) -> int:
            return arrays[name].size if name in arrays else 0

        groups = arrays.get("groups", np.zeros((1, 0)))
        sizes = groups.shape if groups.ndim == 2 else (1, 0)
        found: Shapes = {
            "keys": ((size("keys"),), "u8"),
            "clusters": ((size("keys"),), "u2"),
            "groups": (sizes, "u2"),
            "members": ((size("members"),), "u1"),
            "about": ((size("about"),), "u1"),
        }
        if "rows" in arrays:
            width = size("mean")
            n_centroids = size("centroids") // max(1, width)
            found |= piece_arrays.shapes(arrays, width)
            found |= {"mean": ((width,), "f"), "centroids": ((n_centroids, width), "u1")}
        return found

    @classmethod
    def check(cls, arrays: Mapping[str, Array]) -> None:
        groups = arrays["groups"].astype(np.int64)
        steps = np.diff(groups, axis=1)
        is_tree = 1 <= len(groups) <= MOST_SIZES and groups.shape[1] > 0 and (
            (groups[:, 0] == 0).all() and ((steps == 0) | (steps == 1)).all()
            and (steps[:-1] <= steps[1:]).all() and (steps[-1] == 1).all()
        )  # fmt: skip
        if not is_tree:
            raise InvalidArray("groups", "has clusters that are not parts of each other")
        if any(block.max(initial=0) >= groups.shape[1] for block in blocks(arrays["clusters"])):
            raise InvalidArray("clusters", "has clusters beyond its own")
        n_clusters = int(groups[:, -1].sum() + len(groups))
        check_text("members", arrays["members"])
        if len(texts_of(arrays["members"])) != n_clusters:
            raise InvalidArray("members", "has not one line for each cluster")
        try:
            About(**json.loads(str(arrays["about"].data, "utf8")))
        except (ValueError, TypeError):
            raise InvalidArray("about", "is no description of a table") from None
        if "rows" in arrays:
            piece_arrays.check(arrays)
            if len(arrays["centroids"]) != n_clusters:
                raise InvalidArray("centroids", "has not one row for each cluster")

    @classmethod
    def restore(cls, arrays: Mapping[str, Array], settings: Any) -> WordTable:
        return cls(settings, arrays)


def clusters_of_vectors(
    words: Sequence[str], vectors: Reals2d, sizes: Sequence[int], seed: int
) -> tuple[Arrays, Ints1d]:
    """The arrays `groups`, `members`, `mean` and `centroids`, and the finest cluster of each word.

    vectors: `[V, D]` of words, most frequent first; a word without one is in no cluster, -1. sizes:
    numbers of clusters at most, coarsest first.
    """
    has_vector = vectors.any(axis=1)
    seen = directions(vectors[has_vector][:MOST_CLUSTERED])
    mean = seen.mean(axis=0)
    tree = ClusterTree.grow(directions_from(mean, seen), sizes, seed)
    groups, clusters = tree.groups(), np.full(len(vectors), -1, dtype=np.int32)
    for begin in range(0, len(vectors), _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        clusters[part] = tree.clusters(directions_from(mean, directions(vectors[part])))
    clusters[~has_vector] = -1
    frequent = frequent_members(words, clusters.tolist(), groups)
    arrays: Arrays = {
        "groups": groups.astype(np.uint16),
        "members": bytes_of(["\t".join(each) for each in frequent]),
        "mean": mean.astype(np.float32),
        "centroids": centroid_bytes(tree),
    }
    return arrays, clusters


def too_few(name: str, share: float) -> str:
    """The warning where a table knows few words of a corpus."""
    return (
        f"The table of words '{name}' knows {share:.0%} of the words of the training corpus. It "
        "seems to be of another language, script or tokenizer, and gains little. Give one that "
        "fits, or leave it out."
    )


def _tree_of(groups: Ints2d, centroids: Array) -> ClusterTree:
    """The tree of clusters; centroids: uint8 `[N, D]`, all sizes one after the other."""
    sizes = groups[:, -1] + 1
    found = directions(centroids.astype(np.float32) - ZERO).astype(np.float32)
    first = list[Pointers1d]()
    for coarse, fine in itertools.pairwise(groups):
        parents = coarse[np.searchsorted(fine, np.arange(fine[-1] + 1))]
        first.append(np.searchsorted(parents, np.arange(coarse[-1] + 2)).astype(np.int64))
    return ClusterTree(np.split(found, np.cumsum(sizes)[:-1]), first)


def centroid_bytes(tree: ClusterTree) -> Array:
    """`centroids` of a tree: only their directions count."""
    found = np.concatenate(tree.centroids)
    largest = np.maximum(np.abs(found).max(axis=1, keepdims=True), np.finfo(np.float32).tiny)
    return np.asarray(np.rint(found / largest * (ZERO - 1)) + ZERO, dtype=np.uint8)


def frequent_members(
    words: Iterable[str], clusters: Iterable[int], groups: Ints2d
) -> list[list[str]]:
    """The first words of each cluster, all sizes one after the other.

    words: most frequent first.
    """
    members: list[list[list[str]]] = [[[] for _ in range(int(g[-1]) + 1)] for g in groups]
    for word, cluster in zip(words, clusters, strict=True):
        if cluster >= 0 and not set(word) & {"\t", "\n"}:
            for each, group in zip(members, groups[:, cluster].tolist(), strict=True):
                if len(each[group]) < MEMBERS:
                    each[group].append(word)
    return [cluster for each in members for cluster in each]
