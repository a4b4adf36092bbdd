"""Tables of words from vectors: of words, and of the pieces of words."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import CorpusError
from ...systems.words.pieces import WordPieces
from ...systems.words.table import About, WordTable, clusters_of_vectors
from ...types import Reals2d

SIZES = (64, 256, 1024, 4096)
"""Numbers of clusters, coarsest first."""


def table_of_vectors(
    words: Sequence[str],
    vectors: Reals2d,
    about: About,
    sizes: Sequence[int] = SIZES,
    seed: int = 0,
) -> WordTable:
    """The table of words with vectors, `[V, D]`, most frequent first."""
    arrays, clusters = clusters_of_vectors(words, vectors, sizes, seed)
    (known,) = (clusters >= 0).nonzero()
    of_tree = {name: arrays[name] for name in ("groups", "members")}
    return WordTable.of([words[i] for i in known.tolist()], clusters[known], about, of_tree)


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
    arrays, clusters = clusters_of_vectors(words, vectors, sizes, seed)
    return WordTable.of(words[:n_listed], clusters[:n_listed], about, {**arrays, **pieces.arrays()})
