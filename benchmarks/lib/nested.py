"""Corpora of nested entities: JSON lines to Docs, and exact-match scores over all spans.

A line is a document: `{"id", "sentences": [{"tokens": […], "spans": [[start, end, label], …]}]}`.
Bounds count tokens of the sentence, and the end is exclusive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import srsly
from spacy.tokens import Doc, Span
from spacy.util import filter_spans
from spacy.vocab import Vocab

ENTITIES = "entities"
"""The group of all gold spans, of any depth."""
DOCUMENT = "document"
"""Under this name `doc.user_data` has the id of the document."""
Row = tuple[int, int, str]
"""Start, end and label of a span."""


@dataclass(frozen=True)
class Counts:
    """How many spans are right, found and gold."""

    right: int
    found: int
    gold: int

    def scores(self) -> dict[str, float]:
        """F1, precision and recall in percent, 0 where nothing is found or gold."""
        return {
            "f1": 200 * self.right / max(1, self.found + self.gold),
            "precision": 100 * self.right / max(1, self.found),
            "recall": 100 * self.right / max(1, self.gold),
        }


def read_nested(path: str, vocab: Vocab, by_sentence: bool = False) -> list[Doc]:
    """The documents of a file, or their sentences, each as a Doc with sentence starts.

    `doc.spans["entities"]` has all spans, `doc.ents` the outermost ones, and
    `doc.user_data["document"]` the id of the document.
    """
    return [
        _doc(vocab, sentences, document["id"])
        for document in srsly.read_jsonl(Path(path))
        for sentences in _parts(document["sentences"], by_sentence)
    ]


def _parts(
    sentences: Sequence[Mapping[str, Any]], by_sentence: bool
) -> Iterator[Sequence[Mapping[str, Any]]]:
    if by_sentence:
        yield from ([sentence] for sentence in sentences)
    else:
        yield sentences


def _doc(vocab: Vocab, sentences: Sequence[Mapping[str, Any]], document: str) -> Doc:
    words: list[str] = []
    starts: list[bool | int | None] = []
    rows: list[Row] = []
    for sentence in sentences:
        tokens, begin = sentence["tokens"], len(words)
        rows += [(begin + start, begin + end, label) for start, end, label in sentence["spans"]]
        words += tokens
        starts += [i == 0 for i in range(len(tokens))]
    doc = Doc(vocab, words=words, sent_starts=starts, user_data={DOCUMENT: document})
    spans = [Span(doc, *row) for row in sorted(rows)]
    doc.spans[ENTITIES] = spans
    doc.set_ents(outermost(spans), default="outside")
    return doc


def outermost(spans: Iterable[Span]) -> list[Span]:
    """Spans inside no other. The longer of two that cross is kept, and the first of equal ones."""
    return list(filter_spans(spans))


def innermost(spans: Iterable[Span]) -> list[Span]:
    """Spans that contain no other. The longer of two that cross is kept."""
    spans = list(spans)
    return outermost(
        span
        for span in spans
        if not any(
            span.start <= other.start and other.end <= span.end and len(other) < len(span)
            for other in spans
        )
    )


def rows_of(spans: Iterable[Span]) -> set[Row]:
    """Start, end and label of each span."""
    return {(span.start, span.end, span.label_) for span in spans}


def count_rows(found: set[Row], gold: set[Row]) -> tuple[int, int, int]:
    """How many spans are right, found and gold."""
    return len(found & gold), len(found), len(gold)


def count(found: Iterable[set[Row]], gold: Iterable[Doc]) -> Counts:
    """Compare what was found in each Doc with all of its gold spans: bounds and labels."""
    pairs = zip(found, gold, strict=True)
    counts = [count_rows(rows, rows_of(doc.spans[ENTITIES])) for rows, doc in pairs]
    return Counts(*map(sum, zip((0, 0, 0), *counts, strict=True)))


def covered(candidates: Iterable[set[tuple[int, int]]], gold: Iterable[Doc]) -> float:
    """The percentage of gold spans whose bounds are among the candidates of their Doc."""
    bounds = [(of_doc, doc.spans[ENTITIES]) for of_doc, doc in zip(candidates, gold, strict=True)]
    hits = sum((span.start, span.end) in of_doc for of_doc, spans in bounds for span in spans)
    return 100 * hits / max(1, sum(len(spans) for _, spans in bounds))
