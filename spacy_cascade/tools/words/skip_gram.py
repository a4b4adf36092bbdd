"""Vectors of words by floret's skip-gram model: words in like contexts get like vectors."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ...extras import library
from ...processes import run_in_processes

Vectors: TypeAlias = npt.NDArray[np.float32]

_WINDOW = 3
"""Words on each side that are predicted; near ones tell of syntax and type, far ones of topic."""
_RATE = 0.05
_NEGATIVE = 5
_LABEL = "\ue000label\ue000"
"""Words that begin so would be labels to floret."""
_LINE_END = "</s>"
"""The word that floret adds at the end of each line."""


@dataclass(frozen=True)
class WordVectors:
    """Words, the most frequent one first, how often each occurs, and float32 `[W, D]`."""

    words: list[str]
    counts: list[int]
    vectors: Vectors

    def save(self, path: Path) -> None:
        """Write words and vectors to a file."""
        words = np.frombuffer("\n".join(self.words).encode(), dtype=np.uint8)
        with path.open("wb") as file:
            np.savez(file, words=words, counts=np.array(self.counts), vectors=self.vectors)

    @classmethod
    def load(cls, path: Path) -> WordVectors:
        """Read what `save` wrote."""
        with np.load(path, allow_pickle=False) as arrays:
            words = arrays["words"].tobytes().decode().split("\n")
            return cls(words, arrays["counts"].tolist(), arrays["vectors"])


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
    found, counts = model.get_words(include_freq=True)
    keep = [i for i, word in enumerate(found) if word != _LINE_END]
    WordVectors(
        [found[i] for i in keep],
        [int(counts[i]) for i in keep],
        model.get_input_matrix()[keep].astype(np.float32),
    ).save(target)


def check_extra() -> None:
    """Raise `ConfigError` unless all is installed that making clusters needs."""
    for name in ("floret", "sklearn"):
        library(name, "cluster", "Making clusters")
