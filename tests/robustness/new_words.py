"""Endless texts with words that nobody has seen, for tests of tables that grow."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from random import Random

from helpers import blank, sample_docs

_SYLLABLES = ("ka", "NF-", "lin", "B2", "cyt", "al", "IL-", "ase", "ki", "Ros", "p5", "on")


def texts_of_new_words(n_new: int, seed: int, n: int | None = None) -> Iterator[str]:
    """Sentences of the sample corpus, with so many new words in each.

    New ones look like names; those of another seed are others. n: how many texts, None for no end.
    """
    random = Random(seed)
    sentences = [
        [token.text for token in sentence]
        for doc in sample_docs(blank().vocab)
        for sentence in doc.sents
    ]
    for number in count() if n is None else range(n):
        words = list(random.choice(sentences))
        for i in range(n_new):
            name = random.choice(_SYLLABLES) + random.choice(_SYLLABLES)
            words.insert(random.randrange(len(words)), f"{name}{seed}x{number:x}x{i}")
        yield " ".join(words)
