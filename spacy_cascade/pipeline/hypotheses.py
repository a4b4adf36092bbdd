"""Hypotheses of a reranker: a segmentation of a sentence with its types, and its features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from ..types import Floats1d

OPENING, CLOSING = frozenset("([{"), frozenset(")]}")
EDGE = frozenset(",;:.!?-–—/'\"`") | {"-lrb-", "-rrb-"} | OPENING | CLOSING
JOINING = frozenset({"and", "or", "and/or"})


@dataclass(frozen=True)
class Hypothesis:
    """One segmentation of a sentence, with the scores of both stages.

    words: the sentence's tokens in lower case. spans: start and end (exclusive) in the
    sentence, ascending. sequence_score: of the segmentation. type_scores: log-probability of
    the class of each span. rank: 1 for the segmenter's best.
    """

    words: Sequence[str]
    spans: Sequence[tuple[int, int]]
    sequence_score: float
    type_scores: Sequence[float]
    rank: int

    def texts(self) -> list[str]:
        """The words of each span, joined by spaces."""
        return [" ".join(self.words[start:end]) for start, end in self.spans]

    def inside(self) -> list[str]:
        """The words of all spans."""
        return list(chain.from_iterable(self.words[start:end] for start, end in self.spans))


@dataclass(frozen=True)
class Elsewhere:
    """What the segmenter's best of the other sentences of the Doc found.

    texts: of its spans. words: all that stand in them.
    """

    texts: Counter[str]
    words: Counter[str]

    @classmethod
    def of(cls, firsts: Sequence[Hypothesis]) -> list[Elsewhere]:
        """For each sentence, from the best hypotheses of all sentences of a Doc."""
        texts = [Counter(first.texts()) for first in firsts]
        words = [Counter(first.inside()) for first in firsts]
        all_texts = Counter(chain.from_iterable(t.elements() for t in texts))
        all_words = Counter(chain.from_iterable(w.elements() for w in words))
        return [cls(all_texts - t, all_words - w) for t, w in zip(texts, words, strict=True)]


Feature = Callable[[Hypothesis, Elsewhere], float]


def _lengths(hypothesis: Hypothesis) -> list[int]:
    return [end - start for start, end in hypothesis.spans]


def _mean_length(hypothesis: Hypothesis, _: Elsewhere) -> float:
    return sum(_lengths(hypothesis)) / max(1, len(hypothesis.spans))


def _unbalanced(hypothesis: Hypothesis, _: Elsewhere) -> float:
    """Spans whose brackets do not pair up."""
    return float(sum(not _is_balanced(text) for text in hypothesis.texts()))


def _is_balanced(text: str) -> bool:
    depth = 0
    for character in text:
        depth += (character in OPENING) - (character in CLOSING)
        if depth < 0:
            return False
    return depth == 0


def _edges(hypothesis: Hypothesis, _: Elsewhere) -> float:
    """Spans that begin or end with punctuation."""
    words = hypothesis.words
    return float(sum(words[s] in EDGE or words[e - 1] in EDGE for s, e in hypothesis.spans))


def _before_abbreviation(hypothesis: Hypothesis, _: Elsewhere) -> float:
    """Spans of several words right before a single word in brackets."""
    words, n = hypothesis.words, len(hypothesis.words)
    return float(
        sum(
            e - s > 1 and e + 2 < n and words[e] == "(" and words[e + 2] == ")"
            for s, e in hypothesis.spans
        )
    )


def _agreement(hypothesis: Hypothesis, elsewhere: Elsewhere) -> float:
    """Share of the spans that are found in another sentence too."""
    found = sum(text in elsewhere.texts for text in hypothesis.texts())
    return found / max(1, len(hypothesis.spans))


def _missed(hypothesis: Hypothesis, elsewhere: Elsewhere) -> float:
    """Words outside of all spans that stand inside one in another sentence."""
    if not elsewhere.words:
        return 0.0
    known = sum(word in elsewhere.words for word in hypothesis.words)
    return float(known - sum(word in elsewhere.words for word in hypothesis.inside()))


def _joined(hypothesis: Hypothesis, _: Elsewhere) -> float:
    """Spans with a conjunction inside."""
    words = hypothesis.words
    return float(sum(not JOINING.isdisjoint(words[s:e]) for s, e in hypothesis.spans))


FEATURES: dict[str, Feature] = {
    "sequence_score": lambda h, _: h.sequence_score,
    "type_score": lambda h, _: sum(h.type_scores),
    "lowest_type_score": lambda h, _: min(h.type_scores, default=0.0),
    "reciprocal_rank": lambda h, _: 1.0 / h.rank,
    "n_spans": lambda h, _: float(len(h.spans)),
    "total_length": lambda h, _: float(sum(_lengths(h))),
    "mean_length": _mean_length,
    "longest": lambda h, _: float(max(_lengths(h), default=0)),
    "unbalanced_brackets": _unbalanced,
    "punctuation_at_edge": _edges,
    "before_abbreviation": _before_abbreviation,
    "agreement": _agreement,
    "missed_elsewhere": _missed,
    "conjunction_inside": _joined,
}
"""Features of a hypothesis by name, in the order of the reranker's weights."""


def feature_values(hypothesis: Hypothesis, elsewhere: Elsewhere) -> Floats1d:
    """All features of one hypothesis, float64 `[F]`."""
    return np.array([feature(hypothesis, elsewhere) for feature in FEATURES.values()])
