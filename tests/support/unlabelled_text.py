"""Text of two themes, whose words never meet: clusters have to tell them apart."""

from __future__ import annotations

import random

ANIMALS = [f"animal{letter}" for letter in "abcdefgh"]
STONES = [f"Stone{letter}" for letter in "abcdefgh"]


def paragraphs(n: int = 400, words: int = 30, seed: int = 1) -> list[str]:
    """Paragraphs of one theme each, by turns; a full stop ends each."""
    random_words = random.Random(seed)
    return [
        " ".join(random_words.choices((ANIMALS, STONES)[i % 2], k=words)) + "." for i in range(n)
    ]
