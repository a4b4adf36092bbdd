"""Tables of words from a transformer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...errors import ConfigError, CorpusError
from ...systems.words.pieces import WordPieces
from ...systems.words.table import About, WordTable
from ...types import Reals2d
from .principal import linear_map, principal_components
from .tables import SIZES, table_of_pieces
from .transformer import Transformer
from .vocabulary import Vocabulary, read_vocabulary

WIDTH = 128
"""Numbers in a vector: 256 knew no more of words, 64 knew less."""


def table_of_transformer(
    source: str,
    about: About,
    words: Sequence[str] = (),
    sizes: Sequence[int] = SIZES,
    seed: int = 0,
    threads: int = 1,
) -> WordTable:
    """The table of all words that the pieces of a transformer make.

    words: those that clusters are made of, most frequent first; without any, the pieces that are
    whole words. Raises `ConfigError` for a transformer that cannot be read, and `CorpusError` where
    no word has a piece.
    """
    transformer = Transformer.load(source, threads)
    vocabulary = read_vocabulary(transformer.tokenizer, source)
    vectors = _vectors_of_pieces(transformer, vocabulary, source)
    pieces = WordPieces.of(vocabulary.texts, vectors, vocabulary.is_lower)
    about = replace(about, is_lower=vocabulary.is_lower)
    known = _made_of(pieces, words or vocabulary.whole_words)
    return table_of_pieces(pieces, known, about, sizes, seed)


def table_of_contexts(
    transformer: Transformer,
    source: str,
    about: About,
    words: Sequence[str],
    outputs: Reals2d,
    sizes: Sequence[int] = SIZES,
    seed: int = 0,
) -> WordTable:
    """The same, where words that a text has are listed with the means of their outputs in it.

    words: most frequent first. outputs: float32 `[V, H]` (`Transformer.over_contexts`). A linear
    map, which these words teach, takes pieces to where means over contexts are.
    """
    vocabulary = read_vocabulary(transformer.tokenizer, source)
    alone = _vectors_of_pieces(transformer, vocabulary, source)
    listed = principal_components(_finite(outputs, source), WIDTH)
    made = WordPieces.of(vocabulary.texts, alone, vocabulary.is_lower).vectors(words)
    is_made = made.any(axis=1)
    vectors = linear_map(made[is_made], listed[is_made])(alone)
    pieces = WordPieces.of(vocabulary.texts, vectors, vocabulary.is_lower)
    about = replace(about, is_lower=vocabulary.is_lower)
    return table_of_pieces(pieces, words, about, sizes, seed, listed)


def _made_of(pieces: WordPieces, words: Sequence[str]) -> list[str]:
    """The words that have pieces. Raises `CorpusError` where there are none."""
    is_known = pieces.vectors(words).any(axis=1)
    known = [words[i] for i in np.flatnonzero(is_known).tolist()]
    if not known:
        raise CorpusError(
            f"No piece is part of any of the {len(words):,} words. They seem to be of another "
            "script. Give others."
        )
    return known


def _vectors_of_pieces(transformer: Transformer, vocabulary: Vocabulary, source: str) -> Reals2d:
    outputs = transformer.of_pieces(vocabulary.numbers)
    return principal_components(_finite(outputs, source), WIDTH)


def _finite(outputs: Reals2d, source: str) -> Reals2d:
    if not np.isfinite(outputs).all():
        raise ConfigError(
            f"Outputs of the transformer {source} are no finite numbers. Its weights seem to be "
            "damaged: get them anew."
        )
    return outputs
