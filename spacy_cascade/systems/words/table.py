"""Tables of words: clusters of words at several sizes, which templates see as `cluster(NAME)`.

The words of a table are listed, or have vectors by their pieces (`systems.words.pieces`), or both:
then words that are not listed have their clusters by their pieces. Clusters of pieces are a tree,
in which a word finds its own by few products; those of listed words need not lie in each other.

Arrays, for `V` listed words and `S` sizes: `keys` uint64 `[V]`, hashes of the words; `clusters`
uint16 `[S, V]`, the cluster of each word at each size, coarsest first; `sizes` int32 `[S]`, the
numbers of clusters; `members` uint8, frequent words of the clusters of all sizes, a line for each;
`about` uint8, JSON. With pieces also theirs; `groups` uint16 `[S, C]`, the cluster of each size
that each of the `C` finest ones is part of, ascending; `mean` float32 `[D]`; `centroids` uint8
`[N, D]`, directions from the mean for the clusters of all sizes, with 128 for zero.
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
from ...features.resources import FlaggedTokens, InvalidArray, Resource
from ...features.strings import hash_strings
from ...numeric.arrays import Array, Arrays, Shapes, blocks
from ...numeric.index import KeyIndex
from ...numeric.k_means import ClusterTree, directions, directions_from
from ...types import Ints2d, Keys1d, Pointers1d, Reals2d
from . import pieces as piece_arrays
from .pieces import ZERO, WordPieces, bytes_of, check_text, texts_of

MOST_SIZES = 4
_BITS = 16
"""Of a code for each size."""
MOST_CLUSTERS = (1 << _BITS) - 1
MEMBERS = 3
"""Words of a cluster that are kept as texts, so that explanations can show it."""
_FEW = 0.2
"""With a smaller share of the words of a corpus, a table is of another language or kind."""
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
        self.sizes: list[int] = arrays["sizes"].tolist()
        self._index = KeyIndex(arrays["keys"].astype(np.uint64))
        # The last one is that of words that are not found.
        self._codes = np.append(_packed(arrays["clusters"]), np.uint64(0))
        self.about = About(**json.loads(str(arrays["about"].data, "utf8")))
        self._known: dict[str, int] = {}
        self.pieces, self._tree = None, None
        if "rows" in arrays:
            self.pieces = WordPieces(arrays, self.about.is_lower)
            self._tree = _tree_of(arrays["groups"].astype(np.int32), arrays["centroids"])
            self._codes_of_tree = _packed(arrays["groups"])

    @classmethod
    def of(
        cls, words: Sequence[str], clusters: Ints2d, about: About, arrays: Mapping[str, Array]
    ) -> WordTable:
        """Of distinct listed words with their clusters, int32 `[S, V]`.

        arrays: `sizes` and `members`; with pieces also theirs, `groups`, `mean` and `centroids`.
        Raises `TemplateError` where there are too many clusters or sizes.
        """
        sizes = arrays["sizes"]
        if sizes.max(initial=0) > MOST_CLUSTERS or len(sizes) > MOST_SIZES:
            raise TemplateError(
                f"A table of words has {MOST_CLUSTERS:,} clusters and {MOST_SIZES} sizes of them "
                f"at most; this one has {sizes.max():,} and {len(sizes)}. Make fewer."
            )
        described = json.dumps(asdict(about)).encode()
        listed: Arrays = {
            "keys": hash_strings(words),
            "clusters": np.asarray(clusters, dtype=np.uint16),
            "about": np.frombuffer(described, dtype=np.uint8),
        }
        return cls(None, {**listed, **arrays})

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
        return float((self.word_codes(texts) > 0).mean()) if texts else 0.0

    def source(self) -> dict[str, str]:
        about = asdict(self.about)
        return {name: about[name] for name in ("name", "url", "author", "license")}

    # Words

    def word_codes(self, texts: Sequence[str]) -> Keys1d:
        """The clusters of each word, uint64 `[n]`: 16 bits for each size, from 1; 0 for none.

        A listed word counts in the first of its forms that is listed.
        """
        # The next component of a pipeline asks for the same words.
        known = self._known if len(self._known) < _MOST_KNOWN else {}
        new = [text for text in texts if text not in known]
        if new:
            known.update(zip(new, self._new_codes(new).tolist(), strict=True))
            self._known = known
        return np.array([known[text] for text in texts], dtype=np.uint64)

    def _new_codes(self, texts: Sequence[str]) -> Keys1d:
        codes = self._listed(texts)
        for form in _FORMS if len(self._index) else ():
            (unknown,) = np.nonzero(codes == 0)
            codes[unknown] = self._listed([form(texts[i]) for i in unknown.tolist()])
        if self.pieces is not None and self._tree is not None:
            (unknown,) = np.nonzero(codes == 0)
            vectors = self.pieces.vectors([texts[i] for i in unknown.tolist()])
            has_vector = vectors.any(axis=1)
            points = directions_from(self._arrays["mean"], directions(vectors[has_vector]))
            clusters = self._tree.clusters(points.astype(np.float32))
            codes[unknown[has_vector]] = self._codes_of_tree[clusters]
        return codes

    def word_vectors(self, texts: Sequence[str]) -> Reals2d | None:
        """Those of their pieces, where it has pieces."""
        return None if self.pieces is None else self.pieces.vectors(texts)

    def _listed(self, texts: Iterable[str | None]) -> Keys1d:
        return self._codes[self._index.lookup(hash_strings(texts))]

    def describe(self, value: int, size: int) -> str | None:
        """A cluster of a size with its most frequent words; None for none."""
        if value == 0:
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

        n_sizes, n_words = size("sizes"), size("keys")
        found: Shapes = {
            "keys": ((n_words,), "u8"),
            "clusters": ((n_sizes, n_words), "u2"),
            "sizes": ((n_sizes,), "i4"),
            "members": ((size("members"),), "u1"),
            "about": ((size("about"),), "u1"),
        }
        if "rows" in arrays:
            width = size("mean")
            found |= piece_arrays.shapes(arrays, width)
            found |= {
                "groups": ((n_sizes, size("groups") // max(1, n_sizes)), "u2"),
                "mean": ((width,), "f"),
                "centroids": ((size("centroids") // max(1, width), width), "u1"),
            }
        return found

    @classmethod
    def check(cls, arrays: Mapping[str, Array]) -> None:
        sizes = arrays["sizes"]
        is_counted = 1 <= len(sizes) <= MOST_SIZES and sizes.min() > 0
        if not is_counted or sizes.max() > MOST_CLUSTERS:
            raise InvalidArray("sizes", "has numbers that are no sizes")
        check_text("members", arrays["members"])
        if len(texts_of(arrays["members"])) != sizes.sum():
            raise InvalidArray("members", "has not one line for each cluster")
        for size, clusters in zip(sizes.tolist(), arrays["clusters"], strict=True):
            if any(block.max(initial=0) >= size for block in blocks(clusters)):
                raise InvalidArray("clusters", "has clusters beyond its own")
        try:
            About(**json.loads(str(arrays["about"].data, "utf8")))
        except (ValueError, TypeError):
            raise InvalidArray("about", "is no description of a table") from None
        if "rows" in arrays:
            piece_arrays.check(arrays)
            _check_tree(arrays["groups"].astype(np.int64), sizes)
            if len(arrays["centroids"]) != sizes.sum():
                raise InvalidArray("centroids", "has not one row for each cluster")

    @classmethod
    def restore(cls, arrays: Mapping[str, Array], settings: Any) -> WordTable:
        return cls(settings, arrays)


def too_few(name: str, share: float) -> str:
    """The warning where a table knows few words of a corpus."""
    return (
        f"The table of words '{name}' knows {share:.0%} of the words of the training corpus. It "
        "seems to be of another language, script or tokenizer, and gains little. Give one that "
        "fits, or leave it out."
    )


def _check_tree(groups: Array, sizes: Array) -> None:
    """Raise `InvalidArray` unless finer clusters are parts of coarser ones."""
    steps = np.diff(groups, axis=1)
    if not groups.size or not (
        (groups[:, 0] == 0).all() and (groups[:, -1] == sizes - 1).all()
        and ((steps == 0) | (steps == 1)).all()
        and (steps[:-1] <= steps[1:]).all() and (steps[-1] == 1).all()
    ):  # fmt: skip
        raise InvalidArray("groups", "has clusters that are not parts of each other")


def _packed(clusters: Array) -> Keys1d:
    """Codes of words, uint64 `[V]`: 16 bits for each size; clusters: uint16 `[S, V]`."""
    codes = np.zeros(clusters.shape[1], dtype=np.uint64)
    for size, of_size in enumerate(clusters):
        codes |= (of_size.astype(np.uint64) + np.uint64(1)) << np.uint64(_BITS * size)
    return codes


def values_of(codes: Keys1d, size: int) -> Keys1d:
    """The cluster of each word at a size, from 1, uint64 `[n]`; 0 where there is none.

    codes: as `WordTable.word_codes` gives them. size: 0 for the coarsest.
    """
    values: Keys1d = (codes >> np.uint64(_BITS * size)) & np.uint64((1 << _BITS) - 1)
    return values


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


def frequent_members(words: Sequence[str], clusters: Ints2d, sizes: Sequence[int]) -> Array:
    """`members`: the first words of each cluster of all sizes.

    words: most frequent first, in clusters int32 `[S, V]`; -1 for none.
    """
    lines = list[str]()
    can_be_shown = [not set(word) & {"\t", "\n"} for word in words]
    for size, of_size in zip(sizes, clusters, strict=True):
        members: list[list[str]] = [[] for _ in range(size)]
        for word, cluster, is_shown in zip(words, of_size.tolist(), can_be_shown, strict=True):
            if is_shown and cluster >= 0 and len(members[cluster]) < MEMBERS:
                members[cluster].append(word)
        lines += map("\t".join, members)
    return bytes_of(lines)
