"""The probability that a pipeline gives to entities, whether it found them or not."""

from collections.abc import Sequence

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from ...pipeline.classifier import CascadeClassifier
from ...pipeline.recognisers import recognisers
from ...pipeline.segmenter import CascadeSegmenter
from ...pipeline.spans.placing import LabelledSpan
from ...types import Floats1d

Stages = tuple[CascadeSegmenter, CascadeClassifier | None]
"""A segmenter and the classifier of its spans; None for a single-phase recogniser."""


def stages_of(nlp: Language) -> Stages | None:
    """The components from which the entities of a pipeline have their probabilities.

    None where there is none, where something else finds the spans, and where confidences are
    switched off.
    """
    segmenter, classifier = recognisers(nlp)
    if segmenter is None or not segmenter.confidence:
        return None
    if classifier is not None and not classifier.confidence:
        return None
    return segmenter, classifier


def entity_probabilities(
    stages: Stages, docs: Sequence[Doc], entities: Sequence[Sequence[LabelledSpan]]
) -> list[Floats1d]:
    """Probability of given entities of each Doc, that of the span times that of its label.

    docs: as the pipeline left them. entities: those of each Doc, without overlap. A reranker's
    choice is not looked at. Entities across sentences and of unknown labels have probability 0.
    """
    segmenter, classifier = stages
    if classifier is None:
        # A segmenter without types takes any label for its own.
        found = segmenter.posteriors(docs, entities)
        return [
            p * np.array([label in segmenter.labels for _, _, label in of_doc], dtype=np.bool_)
            for p, of_doc in zip(found, entities, strict=True)
        ]
    found = classifier.probabilities(docs, entities)
    of_span = [np.zeros(len(of_doc)) for of_doc in entities]
    # Whatever the segmenter calls the span, the classifier types it anew.
    for label in segmenter.labels:
        spans = [[(start, end, label) for start, end, _ in of_doc] for of_doc in entities]
        of_label = segmenter.posteriors(docs, spans)
        of_span = [total + p for total, p in zip(of_span, of_label, strict=True)]
    return [np.minimum(1.0, p) * t for p, t in zip(of_span, found, strict=True)]
