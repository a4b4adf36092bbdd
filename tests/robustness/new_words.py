"""Endless texts with words that nobody has seen, for tests of tables that grow."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np
import spacy
from helpers import sample_docs

_SYLLABLES = ("ka", "NF-", "lin", "B2", "cyt", "al", "IL-", "ase", "ki", "Ros", "p5", "on")


def texts_of_new_words(n_new: int, seed: int, n: int | None = None) -> Iterator[str]:
    """Sentences of the sample corpus, in each of which so many words are new.

    New ones look like names; those of another seed are others. n: how many texts, None for no end.
    """
    generator = np.random.default_rng(seed)
    sentences = [
        [token.text for token in sentence]
        for doc in sample_docs(spacy.blank("en").vocab)
        for sentence in doc.sents
    ]
    for number in count() if n is None else range(n):
        words = list(sentences[generator.integers(len(sentences))])
        places = np.sort(generator.integers(len(words), size=n_new))
        for i, place in enumerate(places.tolist()):
            syllables = generator.choice(_SYLLABLES, size=2)
            words.insert(place + i, f"{''.join(syllables)}{seed}x{number:x}x{i}")
        yield " ".join(words)
