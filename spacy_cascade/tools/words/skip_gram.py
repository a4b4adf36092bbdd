"""Vectors of words by floret's skip-gram model: words in like contexts get like vectors."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from ...extras import library
from ...processes import run_in_processes
from .word_vectors import WordVectors

_WINDOW = 3
"""Words on each side that are predicted; near ones tell of syntax and type, far ones of topic."""
_RATE = 0.05
_NEGATIVE = 5
_LABEL = "\ue000label\ue000"
"""Words that begin so would be labels to floret."""
_LINE_END = "</s>"
"""The word that floret adds at the end of each line."""


def write_vectors(
    target: Path, words: Path, size: int, epochs: int, min_count: int, threads: int
) -> None:
    """Train vectors on a file of words (`words.write_words`), and save them as `WordVectors`.

    size: numbers in a vector. min_count: occurrences of a word that gets one. With one thread,
    the same words give the same vectors.
    """
    # In a process of its own, because floret's threads do not look for Ctrl-C.
    arguments = [(target, words, size, epochs, min_count, threads)]
    list(run_in_processes(_train, arguments, 1, lambda: None))


def _train(target: Path, words: Path, size: int, epochs: int, min_count: int, threads: int) -> None:
    import floret

    model = floret.train_unsupervised(
        str(words), model="skipgram", dim=size, epoch=epochs, minCount=min_count, thread=threads,
        ws=_WINDOW, lr=_RATE, neg=_NEGATIVE, minn=0, maxn=0, bucket=1, label=_LABEL,
        verbose=2 if sys.stderr.isatty() else 0,
    )  # fmt: skip
    found = model.get_words()
    keep = [i for i, word in enumerate(found) if word != _LINE_END]
    vectors = model.get_input_matrix()[keep].astype(np.float32)
    WordVectors([found[i] for i in keep], vectors).save(target)


def check_extra() -> None:
    """Raise `ConfigError` unless all is installed that vectors of text need."""
    library("floret", "words", "Making vectors of text")
