"""Texts with far more words that training has not seen than the corpus of calibration has.

A temperature makes confidences right on texts like those that it was fitted to. On others they are
mostly too high, and new words tell the others. Names are new in any text, so *ordinary words* are
counted: of letters alone, and in small letters. Trained on CoNLL-2003, loan agreements have 2.2
times as many unseen ones as the development corpus; with all tokens it is 1.1, with all words that
have a letter 1.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from spacy.attrs import IS_ALPHA, LOWER, ORTH
from spacy.language import Language
from spacy.tokens import Doc

from ..features.space import FeatureSpace
from ..types import Keys2d

FACTOR, MARGIN, FEWEST = 1.5, 0.03, 1000
"""Far more: `share > FACTOR * usual` and `share > usual + MARGIN`, of `FEWEST` words or more.

On the ten corpora of the suite, with one half of a dev part as that of calibration and the other
half as new text, none of 20 halves has far more, nor any of 40 pieces of 4,000 words; 3 of 92
pieces of 2,000 have, and 10 of 194 of 1,000. Of 56 pairs of different English corpora 47 have
(benchmarks/results/unseen_words.md).
"""
EACH = 32
"""Of the texts that are annotated, one of so many is counted, after the first `FEWEST` words."""
_AT_ONCE = 4096
"""Tokens that are looked up together; Doc by Doc takes longer."""
_DIGITS = 4


@dataclass(frozen=True)
class WordCounts:
    """Ordinary words of texts, and how many of them training has not seen."""

    n: int = 0
    unseen: int = 0

    def __add__(self, other: WordCounts) -> WordCounts:
        return WordCounts(self.n + other.n, self.unseen + other.unseen)

    @property
    def share(self) -> float | None:
        """The share that training has not seen; None of fewer words than `FEWEST`."""
        return round(self.unseen / self.n, _DIGITS) if self.n >= FEWEST else None

    def warning(self, usual: float | None) -> str | None:
        """What to say of texts with far more unseen words; None where they do not have them.

        usual: the share in the corpus of calibration, None where it is not known.
        """
        share = self.share
        if usual is None or share is None or share <= max(FACTOR * usual, usual + MARGIN):
            return None
        return (
            f"{share:.0%} of the ordinary words of these texts were not in the training corpus, "
            f"but only {usual:.0%} of those that the pipeline was calibrated on. Its confidences "
            "are probably too high here. Annotate some of these texts; then adapt the pipeline to "
            "them, or calibrate it on them."
        )


@runtime_checkable
class KnowsWords(Protocol):
    """A component that may know what words training had.

    unseen_words: the share of unseen ones in the corpus of calibration, None if not known.
    """

    unseen_words: float | None

    @property
    def space(self) -> FeatureSpace: ...


def count_words(pipe: object, docs: Iterable[Doc]) -> WordCounts:
    """Count the ordinary words of Docs; none where the component does not know those of training.

    Templates such as `seen_inside` keep them (`features.resources.SpanWordCounts`).
    """
    rows = [_read(doc) for doc in docs]
    return _count(pipe, rows) if isinstance(pipe, KnowsWords) and rows else WordCounts()


def _read(doc: Doc) -> Keys2d:
    """What tells ordinary words, uint64 `[T, 3]`."""
    return np.asarray(doc.to_array([LOWER, ORTH, IS_ALPHA]), dtype=np.uint64)


def _count(pipe: KnowsWords, rows: Sequence[Keys2d]) -> WordCounts:
    table = np.concatenate(rows)
    is_ordinary = (table[:, 0] == table[:, 1]) & (table[:, 2] == 1)
    is_seen = pipe.space.are_seen(table[is_ordinary, 0])
    return WordCounts() if is_seen is None else WordCounts(len(is_seen), int((~is_seen).sum()))


def options_after(pipe: object, words: WordCounts) -> dict[str, float | None]:
    """The options that a component has after calibration on texts with these words."""
    return {"unseen_words": words.share} if isinstance(pipe, KnowsWords) else {}


class WordSample:
    """Counts ordinary words in some of the texts that a pipeline annotates.

    usual: the share of unseen ones in the corpus of calibration, None where it is not known; then
    nothing is counted. each: of so many Docs one is counted, after the first `FEWEST` words.
    """

    def __init__(self, nlp: Language, each: int = EACH) -> None:
        pipes: list[object] = [pipe for _, pipe in nlp.pipeline]
        knowing = (pipe for pipe in pipes if isinstance(pipe, KnowsWords))
        self._pipe = next((pipe for pipe in knowing if pipe.unseen_words is not None), None)
        self.usual = None if self._pipe is None else self._pipe.unseen_words
        self._each, self._n_docs = each, 0
        self._counted, self._waiting, self._n_waiting = WordCounts(), list[Keys2d](), 0

    def add(self, doc: Doc) -> None:
        """Take the words of a Doc if its turn has come."""
        is_its_turn = self._counted.n < FEWEST or self._n_docs % self._each == 0
        if self._pipe is not None and is_its_turn:
            self._waiting.append(_read(doc))
            self._n_waiting += len(doc)
            if self._n_waiting >= _AT_ONCE:
                self._count_waiting(self._pipe)
        self._n_docs += 1

    def _count_waiting(self, pipe: KnowsWords) -> None:
        self._counted += _count(pipe, self._waiting)
        self._waiting, self._n_waiting = [], 0

    @property
    def words(self) -> WordCounts:
        """The words until now."""
        if self._pipe is not None and self._waiting:
            self._count_waiting(self._pipe)
        return self._counted

    @property
    def warning(self) -> str | None:
        """What to say of the texts until now; None where they are as usual, or too few."""
        return self.words.warning(self.usual)
