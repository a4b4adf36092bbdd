"""Decoding for the greatest expected F1 instead of the best segmentation.

The segmenter lists its likely spans, and the component that writes the entities chooses among them
by a threshold of half the F1 that can be expected (`pipeline.spans.expected_f1`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from ..errors import ConfigError, TrainingError
from ..pipeline.annotating import annotated
from ..pipeline.classifier import CascadeClassifier
from ..pipeline.recognisers import recognisers
from ..pipeline.segmenter import CascadeSegmenter
from ..pipeline.spans.entities import CONFIDENCE_ATTRIBUTE
from ..pipeline.spans.expected_f1 import Choice, most_expected_f1
from ..pipeline.spans.placing import as_array
from .reconfigure import Settings, with_settings

_DIGITS = 3


class Decoding(str, Enum):
    """What the entities of a pipeline are the best of."""

    best = "best"
    expected_f1 = "expected_f1"


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


@dataclass(frozen=True)
class _Stages:
    """The segmenter, and the component that writes the entities; both by name, too."""

    segmenter: CascadeSegmenter
    chooser: CascadeSegmenter | CascadeClassifier
    segmenter_name: str
    chooser_name: str


def decode_for_f1(nlp: Language, docs: Iterable[Doc]) -> tuple[Language, Decoded]:
    """A copy of the pipeline whose entities have the greatest expected F1, and what was chosen.

    nlp: with calibrated confidences. docs: of the kind that it is to annotate, and not among those
    that it was trained on; their entities are not looked at, they stay as they are. Thresholds of
    labels stay, too. Raises `ConfigError` for a pipeline that cannot choose among likely spans,
    or has a threshold for its best segmentation; `TrainingError` where no span is likely.
    """
    stages = _stages(nlp)
    choice = _choose(nlp, stages, [doc.copy() for doc in docs])
    threshold = round(choice.threshold, _DIGITS)
    # No span is likelier than its bounds are: those below the least threshold cannot be chosen.
    least = min([threshold, *stages.chooser.options.label_thresholds.values()])
    settings: dict[str, dict[str, Any]] = {
        stages.segmenter_name: {"overlapping": True, "threshold": least}
    }
    settings.setdefault(stages.chooser_name, {})["threshold"] = threshold
    decoded = Decoded(
        stages.chooser_name, len(choice.chosen), int(choice.chosen.sum()), choice.f1, threshold,
        settings,
    )  # fmt: skip
    return with_settings(nlp, settings), decoded


def _choose(nlp: Language, stages: _Stages, docs: list[Doc]) -> Choice:
    """The best set among all likely spans of the Docs."""
    everything = {"overlapping": True, "threshold": 0.0, "label_thresholds": {}}
    key, labels = stages.segmenter.options.spans_key, set(stages.chooser.labels)
    for name, pipe in with_settings(nlp, {stages.segmenter_name: everything}).pipeline:
        docs = annotated(pipe, docs)
        if name == stages.segmenter_name:
            bounds_sure = [doc.spans[key].attrs[CONFIDENCE_ATTRIBUTE] for doc in docs]
        if name == stages.chooser_name:
            break
    bounds, sure, n_expected, offset = [], [], 0.0, 0
    for doc, of_bounds in zip(docs, bounds_sure, strict=True):
        group = doc.spans[key]
        both = zip(of_bounds, group.attrs[CONFIDENCE_ATTRIBUTE], strict=True)
        for span, (of_span, confidence) in zip(group, both, strict=True):
            if span.label_ in labels:  # otherwise rejected
                bounds.append((span.start + offset, span.end + offset))
                sure.append(confidence)
                n_expected += of_span
        offset += len(doc)
    if not bounds:
        raise TrainingError(
            f"'{stages.segmenter_name}' lists no likely spans in these Docs to choose entities "
            "from. Give Docs of the kind that it was trained on."
        )
    start, end = as_array(bounds).T
    return most_expected_f1(start, end, np.array(sure, dtype=np.float64), n_expected)


def _stages(nlp: Language) -> _Stages:
    """The components that decode. Raises `ConfigError` where they cannot do so for F1."""
    segmenter, classifier = recognisers(nlp)
    if segmenter is None:
        raise ConfigError(
            f"No cascade_segmenter finds the entities of this pipeline; it has {nlp.pipe_names}. "
            f"Decoding for {Decoding.expected_f1.value} needs one, and the component that writes "
            "the entities must have set_ents = true."
        )
    chooser = classifier or segmenter
    names = {id(pipe): name for name, pipe in nlp.pipeline}
    stages = _Stages(segmenter, chooser, names[id(segmenter)], names[id(chooser)])
    _check(stages)
    return stages


def _check(stages: _Stages) -> None:
    """Raise `ConfigError` for options that decoding for F1 does not go with."""
    decoding = Decoding.expected_f1.value
    options = stages.segmenter.options
    if options.n_best > 1:
        raise ConfigError(
            f"'{stages.segmenter_name}' writes the {options.n_best} best segmentations, and "
            f"decoding for {decoding} chooses among single spans. Set n_best = 1 and leave out the "
            "reranker, or set decoding to best."
        )
    both = {stages.segmenter_name: options, stages.chooser_name: stages.chooser.options}
    for name, own in both.items():
        if not own.confidence:
            raise ConfigError(
                f"'{name}' gives no confidences, and decoding for {decoding} chooses by them. Set "
                "confidence = true, or decoding to best."
            )
        # With a list the threshold is the one that is chosen here.
        if own.threshold and not options.overlapping:
            raise ConfigError(
                f"'{name}' has the threshold {own.threshold:g}, and decoding for {decoding} "
                "chooses another. Set threshold = 0, or decoding to best."
            )
