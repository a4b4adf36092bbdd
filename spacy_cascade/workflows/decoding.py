"""Decoding for the greatest expected F1 instead of the best segmentation.

The segmenter lists its likely spans, whether the pipeline would write them or not. The component
that writes the entities chooses among them by a threshold of half the F1 that can be expected
(`pipeline.spans.expected_f1`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from ..errors import ConfigError, TrainingError
from ..pipeline.classifier import CascadeClassifier
from ..pipeline.decoding import LEAST
from ..pipeline.recognisers import annotated, recognisers, refuse_levels
from ..pipeline.segmenter import CascadeSegmenter
from ..pipeline.spans.entities import CONFIDENCE_ATTRIBUTE
from ..pipeline.spans.expected_f1 import Choice, most_expected_f1
from ..pipeline.spans.placing import LabelledSpan, as_array
from ..types import Floats1d
from .reconfigure import Settings, with_settings

_DIGITS = 3


class Decoding(str, Enum):
    """What the entities of a pipeline are the best of."""

    best = "best"
    expected_f1 = "expected_f1"


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


@dataclass(frozen=True)
class Decoded:
    """How a pipeline chooses entities now.

    component: the one that writes them. f1: what can be expected by its own confidences.
    n_listed, n_chosen: spans to choose among, and entities. settings: the options it takes.
    """

    component: str
    n_listed: int
    n_chosen: int
    f1: float
    threshold: float
    settings: Settings


def decode_for_f1(nlp: Language, docs: Iterable[Doc]) -> tuple[Language, Decoded]:
    """A copy of the pipeline whose entities have the greatest expected F1, and what was chosen.

    nlp: with calibrated confidences. docs: of the kind that it is to annotate, and not among those
    that it was trained on; their entities are not looked at, they stay as they are. Thresholds of
    labels stay, too. Raises `ConfigError` for a pipeline that cannot choose among likely spans,
    or has a threshold for its best segmentation; `TrainingError` where no span is likely.
    """
    stages = _stages(nlp)
    choice = _choose(nlp, stages, list(docs))
    threshold = round(choice.threshold, _DIGITS)
    settings: dict[str, dict[str, Any]] = {
        stages.segmenter_name: {"overlapping": True, "threshold": 0.0}
    }
    settings.setdefault(stages.chooser_name, {})["threshold"] = threshold
    decoded = Decoded(
        stages.chooser_name, len(choice.chosen), int(choice.chosen.sum()), choice.f1, threshold,
        settings,
    )  # fmt: skip
    return with_settings(nlp, settings), decoded


def _choose(nlp: Language, stages: Stages, docs: list[Doc]) -> Choice:
    """The best set among all likely spans of the Docs."""
    found = likely_spans(nlp, stages, docs)
    offsets = np.cumsum([0, *map(len, docs)]).tolist()
    bounds = [
        (start + offset, end + offset)
        for offset, of_doc in zip(offsets, found, strict=False)
        for start, end, _ in of_doc.spans
    ]
    if not bounds:
        raise TrainingError(
            f"'{stages.segmenter_name}' lists no likely spans in these Docs to choose entities "
            "from. Give Docs of the kind that it was trained on."
        )
    start, end = as_array(bounds).T
    n_expected = sum(float(of_doc.of_bounds.sum()) for of_doc in found)
    sure = np.concatenate([of_doc.confidences for of_doc in found])
    return most_expected_f1(start, end, sure, n_expected)


def _stages(nlp: Language) -> Stages:
    """The components that decode. Raises `ConfigError` where they cannot do so for F1."""
    stages = find_stages(nlp)
    if stages is None:
        raise ConfigError(
            f"No cascade_segmenter finds the entities of this pipeline; it has {nlp.pipe_names}. "
            f"Decoding for {Decoding.expected_f1.value} needs one, and the component that writes "
            "the entities must have set_ents = true."
        )
    _check(stages)
    return stages


def _check(stages: Stages) -> None:
    """Raise `ConfigError` for options that decoding for F1 does not go with."""
    decoding = Decoding.expected_f1.value
    segmenter = stages.segmenter
    if segmenter.n_best > 1:
        raise ConfigError(
            f"'{stages.segmenter_name}' writes the {segmenter.n_best} best segmentations, and "
            f"decoding for {decoding} chooses among single spans. Set n_best = 1 and leave out the "
            "reranker, or set decoding to best."
        )
    both = {stages.segmenter_name: segmenter, stages.chooser_name: stages.chooser}
    for name, own in both.items():
        if not own.confidence:
            raise ConfigError(
                f"'{name}' gives no confidences, and decoding for {decoding} chooses by them. Set "
                "confidence = true, or decoding to best."
            )
        # With a list the threshold is the one that is chosen here.
        if own.threshold and not segmenter.overlapping:
            raise ConfigError(
                f"'{name}' has the threshold {own.threshold:g}, and decoding for {decoding} "
                "chooses another. Set threshold = 0, or decoding to best."
            )


def find_stages(nlp: Language) -> Stages | None:
    """The components that the entities come from; None where no segmenter finds them.

    Raises `ConfigError` where they find levels of spans.
    """
    segmenter, classifier = recognisers(nlp)
    if segmenter is None:
        return None
    refuse_levels(segmenter, "This chooses among lists of spans that do not overlap")
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
