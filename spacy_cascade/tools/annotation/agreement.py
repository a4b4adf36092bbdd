"""How far annotators of the same texts agree: F1 of spans and kappa of tokens, by pairs.

F1 of the spans of one annotator against those of another one is what kappa of spans comes to where
what is no span cannot be counted (G. Hripcsak and A. S. Rothschild, "Agreement, the F-measure, and
reliability in information retrieval", 2005). Kappa of tokens (J. Cohen, "A coefficient of agreement
for nominal scales", 1960) counts each word, in an entity or outside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

from spacy.tokens import Doc

from ...pipeline.spans.placing import LabelledSpan
from ..reports.mistakes import Score

Category = TypeVar("Category", bound=Hashable)
Labels = Counter[tuple[str, str]]
"""How many tokens have a label, or "" outside, by one annotator and by another one."""


@dataclass(frozen=True)
class Reading:
    """What an annotator says of a text; unknown: tokens that are not annotated."""

    spans: tuple[LabelledSpan, ...]
    unknown: frozenset[int] = frozenset()

    @classmethod
    def of(cls, doc: Doc) -> Reading:
        spans = tuple((span.start, span.end, span.label_) for span in doc.ents)
        return cls(spans, frozenset(token.i for token in doc if not token.ent_iob))

    def knows(self, start: int, end: int) -> bool:
        """Whether all of these tokens are annotated."""
        return self.unknown.isdisjoint(range(start, end))

    def labels(self, n_tokens: int) -> list[str]:
        """The label of each token, "" outside."""
        found = [""] * n_tokens
        for start, end, label in self.spans:
            found[start:end] = [label] * (end - start)
        return found


@dataclass(frozen=True)
class Reviewed:
    """A text with what each annotator who has it says of it; name: of the document."""

    name: str
    doc: Doc
    readings: Mapping[str, Reading]


@dataclass(frozen=True)
class Pair:
    """Two annotators: how many texts both have, their spans by label, and their tokens."""

    names: tuple[str, str]
    documents: int
    spans: Mapping[str, Score]
    tokens: Labels

    def f1(self, label: str | None = None) -> float | None:
        """F1 of the spans, of a label or of all; None where neither has one."""
        scores = [score for its, score in self.spans.items() if label in (None, its)]
        n_spans = sum(score.n_gold + score.n_predicted for score in scores)
        return 2 * sum(score.n_right for score in scores) / n_spans if n_spans else None

    def kappa(self, label: str | None = None) -> float | None:
        """Kappa of the tokens; of a label: in such an entity or not."""
        if label is None:
            return kappa(self.tokens)
        of_label: Counter[tuple[bool, bool]] = Counter()
        for (one, other), n in self.tokens.items():
            of_label[one == label, other == label] += n
        return kappa(of_label)


def compare_pairs(documents: Sequence[Reviewed], names: Iterable[str]) -> list[Pair]:
    """All pairs of annotators who have a text in common."""
    found = (_compared(documents, pair) for pair in combinations(names, 2))
    return [pair for pair in found if pair.documents]


def _compared(documents: Sequence[Reviewed], names: tuple[str, str]) -> Pair:
    """Words that one of them has not annotated do not count, nor do spans with such a word."""
    both = [one for one in documents if all(name in one.readings for name in names)]
    tokens: Labels = Counter()
    counts: dict[str, Counter[int]] = {}
    for document in both:
        readings = [document.readings[name] for name in names]
        pairs = zip(*(reading.labels(len(document.doc)) for reading in readings), strict=True)
        unknown = readings[0].unknown | readings[1].unknown
        tokens.update(pair for i, pair in enumerate(pairs) if i not in unknown)
        sides = [
            {s for s in reading.spans if unknown.isdisjoint(range(*s[:2]))} for reading in readings
        ]
        for number, spans in enumerate([sides[0] & sides[1], *sides]):
            for *_, label in spans:
                counts.setdefault(label, Counter())[number] += 1
    scores = {label: Score(n[0], n[1], n[2]) for label, n in counts.items()}
    return Pair(names, len(both), scores, tokens)


def kappa(counts: Mapping[tuple[Category, Category], int]) -> float | None:
    """Cohen's kappa of how often two annotators gave each pair of categories.

    None where nothing was annotated, and where both gave the same category to everything.
    """
    n = sum(counts.values())
    ours, theirs = Counter[Category](), Counter[Category]()
    for (one, other), times in counts.items():
        ours[one] += times
        theirs[other] += times
    same = sum(times for (one, other), times in counts.items() if one == other)
    chance = sum(ours[category] * theirs[category] for category in ours)
    # Both are compared times n², in whole numbers.
    return (n * same - chance) / (n * n - chance) if n * n > chance else None


def mean(values: Iterable[float | None]) -> float | None:
    """Of those that there are."""
    found = [value for value in values if value is not None]
    return sum(found) / len(found) if found else None


def clusters(spans: Iterable[LabelledSpan]) -> Iterator[list[LabelledSpan]]:
    """Spans that overlap, or are linked by spans that do, together; in ascending order."""
    found: list[LabelledSpan] = []
    end = 0
    for span in sorted(set(spans)):
        if found and span[0] >= end:
            yield found
            found = []
        found.append(span)
        end = max(end, span[1])
    if found:
        yield found
