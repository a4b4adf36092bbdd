"""Given spans of a Doc as a classifier scores them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spacy.tokens import Doc

from ..features.space import TextOf
from ..features.units import Units
from ..pipeline.classifier import CascadeClassifier
from ..pipeline.reading import span_units, untyped
from ..pipeline.spans.placing import Bounds, as_array, bounds_of, in_batch
from ..pipeline.spans.results import class_probabilities
from ..types import Floats2d
from .feature_texts import text_reader


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
    key = classifier.options.spans_key
    found = doc.ents if key is None else doc.spans.get(key, ())
    classifier.begin_batch()
    text_of = text_reader(classifier, [doc])
    tokens = classifier.read([doc])
    around = untyped([as_array(bounds_of(found))], tokens)
    bounds = in_batch([as_array(spans)], tokens)
    units = span_units(classifier.space, text_of, tokens, bounds, around)
    scores: Floats2d = classifier.model.predict(units)
    return SpanScores(
        units,
        classifier.structure_labels,
        scores,
        class_probabilities(scores, classifier.options.temperature),
        text_of,
    )
