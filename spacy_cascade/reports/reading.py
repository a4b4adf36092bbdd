"""Evaluated examples as tuples: entities, confidences, probabilities and pieces of Docs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from spacy.attrs import ENT_IOB, SENT_START
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..pipeline.annotation import CONFIDENCE_ATTRIBUTE, SpanKey, same_tokens
from ..pipeline.given import LabelledBounds
from ..pipeline.posteriors import Stages, entity_probabilities, stages_of
from ..types import Bools1d
from .costs import Judged
from .excerpts import Piece, cut_evenly, cut_sentences
from .mistakes import Comparison, Entity, compare

_AT_ONCE = 256
"""Docs whose scores are in memory together."""


def judge(nlp: Language, examples: Sequence[Example]) -> list[Judged]:
    """Compare the entities of each example, counted in tokens of the reference.

    examples: their predicted Docs as the pipeline left them, their references with gold
    entities (`is_annotated`). Gold entities have probabilities in Docs with mistakes only.
    """
    read = [_read(example) for example in examples]
    comparisons = [compare(gold, predicted) for gold, predicted, _ in read]
    wrong = [number for number, found in enumerate(comparisons) if found.has_mistakes]
    found_wrong = _probabilities(nlp, [examples[number] for number in wrong])
    probabilities = dict(zip(wrong, found_wrong, strict=True))
    return [
        Judged(
            found,
            confidences,
            probabilities.get(number, [None] * len(found.gold)),
            _pieces(examples[number].reference, found),
        )
        for number, (found, (_, _, confidences)) in enumerate(zip(comparisons, read, strict=True))
    ]


def is_annotated(example: Example) -> bool:
    """Whether the reference says what is an entity and what is not; else nothing is scored."""
    return bool(example.reference.has_annotation("ENT_IOB"))


def _read(example: Example) -> tuple[list[Entity], list[Entity], list[float | None]]:
    """Gold and predicted entities in tokens of the reference, and confidences of the latter.

    As spaCy's scorer has them: what stands on tokens without gold annotation is left out.
    """
    reference = example.reference
    gold = [(span.start, span.end, span.label_) for span in reference.ents]
    known: Bools1d = np.asarray(reference.to_array(ENT_IOB)) != 0
    identical = same_tokens(example)
    confidence = confidences_of(example.predicted)
    predicted: list[Entity] = []
    confidences = []
    for span in example.predicted.ents:
        start, end = span.start, span.end
        if not identical:
            tokens = example.alignment.x2y[start:end]
            if not len(tokens):
                continue
            start, end = int(tokens[0]), int(tokens[-1]) + 1
        if known[start:end].all():
            predicted.append((start, end, span.label_))
            confidences.append(confidence.get((span.start, span.end, span.label)))
    return gold, predicted, confidences


def confidences_of(doc: Doc) -> dict[SpanKey, float]:
    """`span._.confidence` of all spans that have one, read once rather than for each span."""
    found: dict[SpanKey, float] = {}
    for group in doc.spans.values():
        scores = group.attrs.get(CONFIDENCE_ATTRIBUTE)
        for span, score in zip(group, () if scores is None else scores, strict=False):
            found.setdefault((span.start, span.end, span.label), float(score))
    return found


def _probabilities(nlp: Language, examples: Sequence[Example]) -> list[list[float | None]]:
    """Probability of each gold entity, None where the pipeline has no probabilities."""
    stages = stages_of(nlp)
    if stages is None:
        return [[None] * len(example.reference.ents) for example in examples]
    found = []
    for begin in range(0, len(examples), _AT_ONCE):
        found.extend(_of_batch(stages, examples[begin : begin + _AT_ONCE]))
    return found


def _of_batch(stages: Stages, examples: Sequence[Example]) -> list[list[float | None]]:
    aligned = [_aligned(example) for example in examples]
    possible = [[bounds for bounds in of_doc if bounds is not None] for of_doc in aligned]
    values = entity_probabilities(stages, [example.predicted for example in examples], possible)
    found: list[list[float | None]] = []
    for of_doc, p in zip(aligned, values, strict=True):
        left = iter(p.tolist())
        # What the tokens of the pipeline cannot express it cannot find.
        found.append([0.0 if bounds is None else next(left) for bounds in of_doc])
    return found


def _aligned(example: Example) -> list[LabelledBounds | None]:
    """Gold entities in tokens of the predicted Doc, None where these cut them differently."""
    spans = example.reference.ents
    if same_tokens(example):
        return [(span.start, span.end, span.label_) for span in spans]
    aligned: list[LabelledBounds | None] = []
    for span in spans:
        found = example.get_aligned_spans_y2x([span])
        aligned.append((found[0].start, found[0].end, span.label_) if found else None)
    return aligned


def _pieces(doc: Doc, found: Comparison) -> list[Piece]:
    entities = [*found.gold, *found.predicted]
    if not doc.has_annotation("SENT_START"):
        return cut_evenly(len(doc), entities)
    starts = np.flatnonzero(np.asarray(doc.to_array(SENT_START)) == 1)
    return cut_sentences(len(doc), starts.tolist(), entities)
