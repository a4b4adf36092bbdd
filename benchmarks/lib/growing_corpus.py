"""Corpora of any size, made of copies of one, in which new words keep coming.

In each copy, rare words may be replaced by other ones, everywhere in the copy. How many of these
are new follows Heaps' law, `words = factor · tokens ** exponent`, fitted to the corpus and to its
first half. A new word has the beginning of the word that it stands for and the end of another one.
All else is as in the corpus. So with as many copies as `min_count` says, even the rarest
conjunctions of words are features: there are more features than in text that does not repeat.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from spacy.attrs import ORTH
from spacy.strings import StringStore
from spacy.tokens import DocBin

_RARE = 2
"""The most times that a word stands in the corpus for it to be replaced."""


@dataclass
class Words:
    """The words of a corpus by their number: hashes, texts, and which ones are rare."""

    hashes: Any
    texts: list[str]
    rare: Any
    exponent: float

    @classmethod
    def of(cls, corpus: DocBin) -> Words:
        column = corpus.attrs.index(ORTH)
        words = np.concatenate([tokens[:, column] for tokens in corpus.tokens])
        hashes, counts = np.unique(words, return_counts=True)
        half = len(np.unique(words[: len(words) // 2]))
        strings = StringStore(corpus.strings)
        texts = [strings[word] for word in hashes.tolist()]
        return cls(hashes, texts, np.flatnonzero(counts <= _RARE), math.log2(len(hashes) / half))

    def n_new(self, copy: int) -> int:
        """How many words come for the first time in a copy, the first of which has number 0."""
        ends = [len(self.hashes) * n**self.exponent for n in (copy, copy + 1)]
        return round(ends[1] - ends[0])


def copies(path: Path, n_tokens: int, seed: int = 0) -> Iterator[DocBin]:
    """Copies of a `.spacy` file until there are so many tokens; the last may have fewer Docs."""
    corpus = DocBin().from_disk(path)
    words, rng = Words.of(corpus), np.random.default_rng(seed)
    known = {int(number): [words.texts[number]] for number in words.rare}
    number, left = 0, n_tokens
    while left > 0:
        texts = list(words.texts)
        is_new = np.zeros(len(texts), dtype=np.bool_)
        if number:
            is_new[rng.choice(words.rare, min(words.n_new(number), len(words.rare)), False)] = True
        for rare in words.rare.tolist():
            if is_new[rare]:
                other = words.texts[rng.choice(words.rare)]
                known[rare].append(_blend(words.texts[rare], other, number))
                texts[rare] = known[rare][-1]
            else:
                texts[rare] = known[rare][rng.integers(len(known[rare]))]
        made = _renamed(corpus, words, texts, left)
        yield made
        number, left = number + 1, left - sum(len(tokens) for tokens in made.tokens)


def _blend(one: str, other: str, copy: int) -> str:
    """The first half of one and the second of the other, and a letter that tells copies apart."""
    letter = chr(ord("a") + copy % 26)
    return one[: (len(one) + 1) // 2] + letter + other[len(other) // 2 :]


def _renamed(corpus: DocBin, words: Words, texts: list[str], n_tokens: int) -> DocBin:
    """The first Docs with other words, at most so many tokens of them but for the last Doc."""
    column, made, total = corpus.attrs.index(ORTH), DocBin(), 0
    made.attrs = corpus.attrs
    strings = StringStore()
    hashes = np.array([strings.add(text) for text in texts], dtype=np.uint64)
    made.strings = {*corpus.strings, *texts}
    for i, tokens in enumerate(corpus.tokens):
        if total >= n_tokens:
            break
        new = tokens.copy()
        new[:, column] = hashes[np.searchsorted(words.hashes, tokens[:, column])]
        made.tokens.append(new)
        for name in ("spaces", "cats", "flags", "span_groups"):
            getattr(made, name).append(getattr(corpus, name)[i])
        total += len(tokens)
    return made


def write_corpus(train: str, n_tokens: int, folder: str) -> dict[str, int]:
    """Write a folder of `.spacy` files; returns the number of tokens."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    total = 0
    for number, docs in enumerate(copies(Path(train), n_tokens)):
        docs.to_disk(Path(folder) / f"{number:04}.spacy")
        total += sum(len(tokens) for tokens in docs.tokens)
    return {"tokens": total}
