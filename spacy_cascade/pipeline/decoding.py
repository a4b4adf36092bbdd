"""From scored sequences to spans: the best ones, all likely ones, or the N best segmentations."""

from __future__ import annotations

from typing import Protocol

from ..inference.schemes import Spans
from ..types import Floats1d, Ints1d
from .scored_batch import ScoredBatch
from .spans.placing import select
from .spans.results import Decoded


class Decoding(Protocol):
    """The settings that say which spans are found."""

    overlapping: bool
    n_best: int
    confidence: bool
    temperature: float


def decode(
    batch: ScoredBatch, settings: Decoding, thresholds: Floats1d, is_probabilistic: bool
) -> Decoded:
    """The spans of sequences; thresholds: of each label. is_probabilistic: whether the loss is."""
    if settings.overlapping:
        return Decoded(*batch.likely_spans(thresholds, settings.temperature))
    if settings.n_best == 1:
        return Decoded(*_sure(batch, batch.best_path(), settings, thresholds))
    paths, scores = batch.best_paths(settings.n_best)
    ranked = batch.ranked(paths, scores, is_probabilistic)
    return Decoded(*_sure(batch, paths[0], settings, thresholds), ranked)


def _sure(
    batch: ScoredBatch, path: Ints1d, settings: Decoding, thresholds: Floats1d
) -> tuple[Spans, Floats1d | None]:
    """The spans of a path that are sure enough, and their confidences."""
    spans = batch.spans(path)
    if not settings.confidence:
        return spans, None
    confidences = batch.posteriors(path, spans, settings.temperature)
    kept = confidences >= thresholds[spans.label]
    return select(spans, kept), confidences[kept]
