"""The likely entities of a batch of Docs as arrays, with the probability of each of their labels.

    P(span is an entity of label y) = P(span) · P(y | span)

These are the confidences that the pipeline would give, also of spans that it does not choose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from ...caching import cached_property
from ...errors import ConfigError
from ...features.tokens import Tokens
from ...inference.schemes import Spans
from ...pipeline.classifier import CascadeClassifier
from ...pipeline.decoding import ScoredBatch
from ...pipeline.recognisers import annotated
from ...pipeline.segmenter import CascadeSegmenter
from ...pipeline.spans.placing import BoundsArray
from ...pipeline.spans.results import class_probabilities
from ...types import Floats2d, Pointers1d
from ..reports.posteriors import Stages, stages_of


@dataclass(frozen=True)
class LikelyEntities:
    """The spans of a batch that are entities with a probability of 0.01 or more.

    bounds: int64 `[P, 2]`, tokens of the batch, in ascending order. probabilities: float64
    `[P, C]`, that the span is an entity of each of the labels. labels: names of the columns.
    batch, temperature: the sequences of the batch as the segmenter scores them.
    """

    bounds: BoundsArray
    probabilities: Floats2d
    labels: tuple[str, ...]
    batch: ScoredBatch
    temperature: float

    @property
    def n_sequences(self) -> int:
        return len(self.batch.tokens.sequence_starts) - 1

    @cached_property
    def sequences(self) -> Pointers1d:
        """Number of the sequence of each span, int64 `[P]`."""
        starts = self.batch.tokens.sequence_starts
        found: Pointers1d = np.searchsorted(starts, self.bounds[:, 0], side="right") - 1
        return found

    @cached_property
    def segmentations(self) -> Floats2d:
        """Probabilities of the two best segmentations of each sequence, float64 `[2, N]`."""
        if not len(self.batch):
            return np.zeros((2, 0))
        _, ranked = self.batch.best_paths(2)
        found: Floats2d = np.exp(self.batch.log_probabilities(ranked, self.temperature))
        return found

    def of_labels(self, labels: Sequence[str]) -> Floats2d:
        """Columns of the probabilities. Raises `ConfigError` for a label that there is not."""
        unknown = sorted(set(labels) - set(self.labels))
        if unknown:
            raise ConfigError(
                f"The pipeline has no label '{unknown[0]}'. Its labels: {', '.join(self.labels)}."
            )
        columns = [self.labels.index(label) for label in labels]
        found: Floats2d = self.probabilities[:, columns]
        return found


def require_stages(nlp: Language, what: str) -> Stages:
    """The components with the confidences of the entities.

    what: needs them, for the message. Raises `ConfigError` where there are none.
    """
    stages = stages_of(nlp)
    if stages is None:
        raise ConfigError(
            f"{what} needs a cascade_segmenter that finds the entities, with confidence = true; "
            f"the pipeline has {nlp.pipe_names}. Add one, or set its set_ents = true if it has no "
            "classifier."
        )
    return stages


def before_segmenter(nlp: Language, stages: Stages, docs: Sequence[Doc]) -> list[Doc]:
    """The Docs as the components before the segmenter leave them."""
    found = list(docs)
    for _, pipe in nlp.pipeline:
        if pipe is stages[0]:
            break
        found = annotated(pipe, found)
    return found


def likely_entities(stages: Stages, docs: Sequence[Doc]) -> LikelyEntities:
    """Those of Docs that the components before the segmenter have annotated.

    The Docs are not changed. A reranker's choice is not looked at.
    """
    segmenter, classifier = stages
    batch, temperature = segmenter.scored(docs), segmenter.temperature
    none = np.zeros(0, dtype=np.int64)
    spans, of_span = Spans(none, none, none.astype(np.int32)), np.zeros(0)
    if len(batch):
        spans, of_span = batch.likely_spans(np.zeros(len(segmenter.labels)), temperature)
    both = np.stack([spans.start, spans.end], axis=1)
    bounds, number = np.unique(both, axis=0, return_inverse=True)
    number = number.reshape(-1)
    if classifier is None:
        found = np.zeros((len(bounds), len(segmenter.labels)))
        found[number, spans.label] = of_span
        return LikelyEntities(bounds, found, segmenter.labels, batch, temperature)
    of_bounds = np.bincount(number, weights=of_span, minlength=len(bounds))
    types = _types(segmenter, classifier, docs, batch, bounds)
    found = np.minimum(1.0, of_bounds)[:, None] * types
    return LikelyEntities(bounds, found, classifier.labels, batch, temperature)


def _types(
    segmenter: CascadeSegmenter,
    classifier: CascadeClassifier,
    docs: Sequence[Doc],
    batch: ScoredBatch,
    bounds: BoundsArray,
) -> Floats2d:
    """Probabilities of the labels `[P, C]` of spans, each seen beside those of the best path."""
    if not len(bounds):
        return np.zeros((0, len(classifier.labels)))
    best = batch.spans(batch.best_path())
    around = np.stack([best.start, best.end], axis=1)
    scores = classifier.scores(docs, _by_doc(bounds, batch.tokens), _by_doc(around, batch.tokens))
    found = class_probabilities(scores, classifier.temperature)
    return found[:, int(classifier.reject) :]


def _by_doc(bounds: BoundsArray, tokens: Tokens) -> list[BoundsArray]:
    """Bounds in the batch, ascending, as bounds in each Doc."""
    starts = tokens.doc_starts
    cuts: Pointers1d = np.searchsorted(bounds[:, 0], starts)
    return [
        bounds[begin:end] - offset
        for (begin, end), offset in zip(pairwise(cuts.tolist()), starts.tolist(), strict=False)
    ]
