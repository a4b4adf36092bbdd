"""Words with their vectors, from whatever source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...features.strings import is_valid
from ...types import Reals2d


@dataclass(frozen=True)
class WordVectors:
    """Distinct words, most frequent first, and their vectors, float32 `[V, D]`.

    left_out: how many words are not among them, since their vectors are zero or no finite numbers,
    or they came before, or no token can be like them.
    """

    words: list[str]
    vectors: Reals2d
    left_out: int = 0

    @classmethod
    def of(cls, words: Sequence[str], vectors: Reals2d) -> WordVectors:
        """Of all words that can be used."""
        is_used = np.asarray(np.isfinite(vectors).all(axis=1) & vectors.any(axis=1))
        seen: set[str] = set()
        for i, word in enumerate(words):
            is_used[i] &= word not in seen and word.split() == [word] and is_valid(word)
            seen.add(word)
        if is_used.all():
            return cls(list(words), vectors)
        kept = np.flatnonzero(is_used)
        return cls([words[i] for i in kept.tolist()], vectors[kept], len(words) - len(kept))

    def save(self, path: Path) -> None:
        """Write words and vectors to a file."""
        words = np.frombuffer("\n".join(self.words).encode(), dtype=np.uint8)
        with path.open("wb") as file:
            np.savez(file, words=words, vectors=self.vectors)

    @classmethod
    def load(cls, path: Path) -> WordVectors:
        """Read what `save` wrote."""
        with np.load(path, allow_pickle=False) as arrays:
            return cls(arrays["words"].tobytes().decode().split("\n"), arrays["vectors"])
