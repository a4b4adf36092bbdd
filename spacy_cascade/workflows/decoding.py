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
from ..pipeline.spans.expected_f1 import Choice, most_expected_f1
from ..pipeline.spans.placing import as_array
from .likely_spans import Stages, find_stages, likely_spans
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
