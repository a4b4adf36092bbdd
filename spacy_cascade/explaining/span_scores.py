"""Given spans of a Doc as a classifier scores them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spacy.tokens import Doc

from ..features.space import TextOf
from ..features.units import Units
from ..pipeline.classifier import CascadeClassifier
from ..pipeline.spans.span_units import class_probabilities, joined, span_units
from ..pipeline.spans.typed_groups import Bounds, bounds_of
from ..types import Floats2d
from .feature_texts import text_reader
from .label_names import label_names


@dataclass(frozen=True)
class SpanScores:
    """Scores and probabilities, float64 `[P, C]`, of the classes of some spans.

    units: the spans. classes: names of the columns. text_of: gives texts of their features.
    """

    units: Units
    classes: list[str]
    scores: Floats2d
    probabilities: Floats2d
    text_of: TextOf


def score_spans(classifier: CascadeClassifier, doc: Doc, spans: Sequence[Bounds]) -> SpanScores:
    """Scores of spans of a Doc, beside those that stand on it; it is not changed."""
    key = classifier.cfg["spans_key"]
    found = doc.ents if key is None else doc.spans.get(key, ())
    classifier.sync_weights()
    classifier.forget_words()
    text_of = text_reader(classifier, [doc])
    tokens = classifier.read([doc])
    of_doc, of_found = [joined(spans)], [joined(bounds_of(found))]
    units = span_units(classifier.space, text_of, tokens, of_doc, of_found)
    scores: Floats2d = classifier.model.predict(units)
    return SpanScores(
        units,
        label_names(classifier),
        scores,
        class_probabilities(scores, classifier.cfg["temperature"]),
        text_of,
    )
