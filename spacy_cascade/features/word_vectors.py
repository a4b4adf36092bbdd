"""What attributes see of the vectors of a vocabulary; `pipeline.reading` gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..types import Reals2d


class WordVectors(Protocol):
    """Vectors by the text of a word. They are looked at while a batch is read, and not kept."""

    @property
    def width(self) -> int:
        """Numbers in a vector, 1 or more."""

    def of(self, texts: Sequence[str]) -> Reals2d:
        """The vectors of words, float32 `[n, width]`; zeros for an unknown word."""

    def text_of(self, word: int) -> str:
        """The text of a word of the batch by its 64-bit hash."""

    def first_words(self, n: int) -> list[str]:
        """The first words of the table, `n` at most; none where it keeps parts of words."""
