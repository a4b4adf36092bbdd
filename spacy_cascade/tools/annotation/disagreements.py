"""Where annotators disagree, and what a pipeline thinks of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from spacy.language import Language
from spacy.util import minibatch

from ...pipeline.readers import input_doc
from ...pipeline.spans.placing import LabelledSpan
from ..explaining.uncertainty import require_stages
from ..reports.reading import entity_probabilities
from .agreement import Reading, Reviewed, clusters

UNKNOWN = "?"
"""In place of a label: the annotator has not the text, or has not annotated all of its words."""
_AT_ONCE = 256
_AROUND = 60
"""Characters shown on each side of a span."""


class Kind(str, Enum):
    """How annotators disagree on a span, the first that holds."""

    LABEL = "label"
    BOUNDS = "bounds"
    MISSING = "missing"


@dataclass(frozen=True)
class Opinion:
    """What a pipeline thinks of a text: its entities, and how probable those of annotators are."""

    spans: tuple[LabelledSpan, ...]
    probabilities: Mapping[LabelledSpan, float]


@dataclass(frozen=True)
class Disagreement:
    """A span that some annotators have, and others have not, or with another label.

    start, end: tokens. labels: of each annotator, "" without one, or `UNKNOWN`.
    """

    document: Reviewed
    start: int
    end: int
    kind: Kind
    labels: Mapping[str, str]

    def probabilities(self, opinion: Opinion) -> dict[str, float]:
        """How probable an entity with each label is that an annotator gave."""
        given = sorted(set(self.labels.values()) - {"", UNKNOWN})
        return {label: opinion.probabilities[self.start, self.end, label] for label in given}

    def against(self, opinion: Opinion) -> float:
        """How probable it is that the annotator is wrong who is so most probably."""
        known = self.probabilities(opinion)
        known[""] = max(0.0, 1.0 - sum(known.values()))
        return 1.0 - min(known[label] for label in self.labels.values() if label != UNKNOWN)

    def row(self, opinion: Opinion | None) -> dict[str, object]:
        """The cells of a list; characters count from the begin of the text."""
        doc, place = self.document.doc, (self.start, self.end)
        span = doc[self.start : self.end]
        begin, end = span.start_char, span.end_char
        cells: dict[str, object] = {
            "document": self.document.name, "start": begin, "end": end, "text": span.text,
            "kind": self.kind.value, **self.labels,
        }  # fmt: skip
        if opinion is not None:
            labels = {(start, end): label for start, end, label in opinion.spans}
            probable = self.probabilities(opinion).items()
            cells["model"] = labels.get(place, "")
            cells["probability"] = ", ".join(f"{label} {p:.4f}" for label, p in probable)
            cells["against"] = round(self.against(opinion), 4)
        cells["context"] = doc.text[max(0, begin - _AROUND) : end + _AROUND]
        return cells


COLUMNS = ("document", "start", "end", "text", "kind")
OF_MODEL = ("model", "probability", "against")
CONTEXT = "context"


def find_disagreements(document: Reviewed, names: Sequence[str]) -> list[list[Disagreement]]:
    """The spans that annotators disagree on; those that overlap are together."""
    readings = document.readings
    spans = [span for reading in readings.values() for span in reading.spans]
    found = []
    for cluster in clusters(spans):
        bounds = sorted({span[:2] for span in cluster})
        rows = [_compared(document, names, *place) for place in bounds]
        found.append([row for row in rows if row is not None])
    return [rows for rows in found if rows]


def most_against(found: tuple[Sequence[Disagreement], Opinion | None]) -> float:
    """A key that sorts disagreements on overlapping spans by what a pipeline thinks of them."""
    group, opinion = found
    return 0.0 if opinion is None else -max(each.against(opinion) for each in group)


def _compared(
    document: Reviewed, names: Sequence[str], start: int, end: int
) -> Disagreement | None:
    """What annotators say of a span; None where they agree."""
    readings = document.readings
    labels = {name: _label(readings.get(name), start, end) for name in names}
    said = {label for label in labels.values() if label != UNKNOWN}
    if len(said) < 2:
        return None
    without = [readings[name] for name in names if labels[name] == ""]
    if len(said - {""}) > 1:
        kind = Kind.LABEL
    elif any(s[0] < end and start < s[1] for reading in without for s in reading.spans):
        kind = Kind.BOUNDS
    else:
        kind = Kind.MISSING
    return Disagreement(document, start, end, kind, labels)


def _label(reading: Reading | None, start: int, end: int) -> str:
    if reading is None or not reading.knows(start, end):
        return UNKNOWN
    return next((label for *place, label in reading.spans if place == [start, end]), "")


def opinions_of(nlp: Language, documents: Sequence[Reviewed]) -> list[Opinion]:
    """What a pipeline thinks of each text, with the words that the review has.

    Raises `ConfigError` for a pipeline without probabilities of entities.
    """
    stages = require_stages(nlp, "review --model")
    found: list[Opinion] = []
    for batch in minibatch(documents, _AT_ONCE):  # type: ignore[no-untyped-call]
        docs = list(nlp.pipe(input_doc(document.doc, (), nlp.vocab) for document in batch))
        known: list[dict[LabelledSpan, float]] = [{} for _ in batch]
        # Those of one annotator at a time, for spans of several overlap.
        for name in dict.fromkeys(name for document in batch for name in document.readings):
            none = Reading(())
            spans = [document.readings.get(name, none).spans for document in batch]
            for of_doc, its, values in zip(
                known, spans, entity_probabilities(stages, docs, spans), strict=True
            ):
                for span, p in zip(its, values.tolist(), strict=True):
                    of_doc.setdefault(span, p)
        found += [Opinion(Reading.of(doc).spans, p) for doc, p in zip(docs, known, strict=True)]
    return found
