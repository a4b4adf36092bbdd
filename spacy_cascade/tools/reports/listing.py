"""The mistakes of an evaluation as rows of a table, in the order of the texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from spacy.tokens import Doc
from spacy.training import Example

from .costs import Judged
from .mistakes import Kind

COLUMNS = (
    "document", "start", "end", "text", "kind", "gold", "found", "confidence", "gold_probability",
    "context",
)  # fmt: skip
Row = dict[str, object]


def list_mistakes(examples: Sequence[Example], judged: Mapping[int, Judged]) -> list[Row]:
    """Each gold span that was not found, and each span found that is wrong.

    judged: what `judge_annotated` gives of the examples. Both are one row where only the type
    is wrong. document: number of the Doc, from 1. start, end: characters. gold, found: the labels.
    confidence: of what was found; gold_probability: what the pipeline gives the gold span; None
    where they are unknown. context: the sentence, or some words around where there are none.
    """
    return [
        {"document": number + 1, **row}
        for number, of_doc in judged.items()
        for row in sorted(_rows(of_doc, examples[number].reference), key=_place)
    ]


def _place(row: Row) -> tuple[object, object]:
    return row["start"], row["end"]


def _rows(judged: Judged, doc: Doc) -> Iterator[Row]:
    compared = judged.comparison
    partner = dict(compared.pairs)
    paired = set(partner.values())
    for g, (entity, kind) in enumerate(zip(compared.gold, compared.gold_kinds, strict=True)):
        if kind is not Kind.RIGHT:
            p = partner.get(g)
            yield {
                **_shown(judged, doc, entity[:2], kind),
                "gold": entity[2],
                "found": None if p is None else compared.predicted[p][2],
                "confidence": None if p is None else judged.confidences[p],
                "gold_probability": judged.probabilities[g],
            }
    for p, entity in enumerate(compared.predicted):
        if p not in paired:
            yield {
                **_shown(judged, doc, entity[:2], compared.predicted_kinds[p]),
                "gold": None,
                "found": entity[2],
                "confidence": judged.confidences[p],
                "gold_probability": None,
            }


def _shown(judged: Judged, doc: Doc, bounds: tuple[int, int], kind: Kind) -> Row:
    span = doc[bounds[0] : bounds[1]]
    start, end = next(piece for piece in judged.pieces if piece[0] <= bounds[0] < piece[1])
    return {
        "start": span.start_char,
        "end": span.end_char,
        "text": span.text,
        "kind": kind.value,
        "context": doc[start:end].text,
    }
