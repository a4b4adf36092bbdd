"""Tables of words from a transformer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...errors import ConfigError
from ...systems.words.pieces import WordPieces
from ...systems.words.table import About, WordTable
from .principal import principal_components
from .tables import SIZES, table_of_pieces
from .transformer import Transformer
from .vocabulary import read_vocabulary

WIDTH = 128
"""Numbers in a vector: 256 knew no more of words, 64 knew less."""


def read_pieces(source: str, threads: int) -> tuple[WordPieces, list[str], bool]:
    """The pieces of a transformer; those that are whole words; whether they are in lower case."""
    transformer = Transformer.load(source, threads)
    vocabulary = read_vocabulary(transformer.tokenizer, source)
    outputs = transformer.of_pieces(vocabulary.numbers)
    if not np.isfinite(outputs).all():
        raise ConfigError(f"The outputs of {source} are no numbers: its weights are damaged.")
    vectors = principal_components(outputs, WIDTH)
    words = [text[1:] for text in vocabulary.texts if text.startswith(" ")]
    pieces = WordPieces.of(vocabulary.texts, vectors, vocabulary.is_lower)
    return pieces, words, vocabulary.is_lower


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
    whole words.
    """
    pieces, whole, is_lower = read_pieces(source, threads)
    return table_of_pieces(pieces, words or whole, replace(about, is_lower=is_lower), sizes, seed)
