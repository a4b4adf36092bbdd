"""Small tables of word vectors: one with a row for a word, one of floret's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from spacy.vectors import Vectors
from spacy.vocab import Vocab


def add_table(
    vocab: Vocab, words: Sequence[str], width: int = 8, seed: int = 0, attr: str = "ORTH"
):
    """Give a vocabulary random vectors of these words, which are returned."""
    for word in words:
        vocab.strings.add(word)
    data = np.random.default_rng(seed).normal(size=(len(words), width)).astype(np.float32)
    vocab.vectors = Vectors(strings=vocab.strings, data=data, keys=list(words), attr=attr)
    return data


def add_floret(vocab: Vocab, width: int = 8, seed: int = 0) -> None:
    """Give a vocabulary a random floret table, which has a vector of any word."""
    data = np.random.default_rng(seed).normal(size=(50, width)).astype(np.float32)
    vocab.vectors = Vectors(
        strings=vocab.strings, mode="floret", data=data, minn=3, maxn=4, hash_count=2,
        hash_seed=2166136261, bow="<", eow=">",
    )  # fmt: skip


def remove_vectors(vocab: Vocab) -> None:
    vocab.vectors = Vectors(strings=vocab.strings)
