"""All likely entities of Docs, whether a pipeline would write them or not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from ..pipeline.classifier import CascadeClassifier
from ..pipeline.decoding import LEAST
from ..pipeline.recognisers import annotated, recognisers
from ..pipeline.segmenter import CascadeSegmenter
from ..pipeline.spans.entities import CONFIDENCE_ATTRIBUTE
from ..pipeline.spans.placing import LabelledSpan
from ..types import Floats1d
from .reconfigure import with_settings


@dataclass(frozen=True)
class Stages:
    """The segmenter, and the component that writes the entities; both by name, too."""

    segmenter: CascadeSegmenter
    chooser: CascadeSegmenter | CascadeClassifier
    segmenter_name: str
    chooser_name: str


class LikelySpans(NamedTuple):
    """Those of a Doc, by start and end; without spans that the classifier rejects.

    spans: `[P]`. of_bounds: float64 `[P]`, probability that there is an entity with these bounds.
    confidences: float64 `[P]`, that times the probability of the label.
    """

    spans: list[LabelledSpan]
    of_bounds: Floats1d
    confidences: Floats1d


def find_stages(nlp: Language) -> Stages | None:
    """The components that the entities come from; None where no segmenter finds them."""
    segmenter, classifier = recognisers(nlp)
    if segmenter is None:
        return None
    chooser = classifier or segmenter
    names = {id(pipe): name for name, pipe in nlp.pipeline}
    return Stages(segmenter, chooser, names[id(segmenter)], names[id(chooser)])


def likely_spans(nlp: Language, stages: Stages, docs: Sequence[Doc]) -> list[LikelySpans]:
    """All spans of each Doc whose bounds have a probability of 0.01 or more.

    stages: of the pipeline; both give confidences. The Docs stay as they are.
    """
    everything = {"overlapping": True, "threshold": LEAST, "label_thresholds": {}}
    key, labels = stages.segmenter.spans_key, set(stages.chooser.labels)
    seen = [doc.copy() for doc in docs]
    of_bounds: list[Sequence[float]] = []
    for name, pipe in with_settings(nlp, {stages.segmenter_name: everything}).pipeline:
        seen = annotated(pipe, seen)
        if name == stages.segmenter_name:
            of_bounds = [doc.spans[key].attrs[CONFIDENCE_ATTRIBUTE] for doc in seen]
        if name == stages.chooser_name:
            break
    return [_read(doc, key, own, labels) for doc, own in zip(seen, of_bounds, strict=True)]


def _read(doc: Doc, key: str, of_bounds: Sequence[float], labels: set[str]) -> LikelySpans:
    group = doc.spans[key]
    kept = [i for i, span in enumerate(group) if span.label_ in labels]  # others are rejected
    spans = [(group[i].start, group[i].end, group[i].label_) for i in kept]
    confidences = np.asarray(group.attrs[CONFIDENCE_ATTRIBUTE], dtype=np.float64)
    return LikelySpans(spans, np.asarray(of_bounds, dtype=np.float64)[kept], confidences[kept])
