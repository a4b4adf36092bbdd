"""From scored sequences to spans: the best ones, all likely ones, or the N best segmentations."""

from __future__ import annotations

from ..inference.schemes import Spans
from ..types import Floats1d, Ints1d
from .declared import SegmenterOptions
from .scored_batch import ScoredBatch
from .spans.placing import select
from .spans.results import Decoded


def decode(
    batch: ScoredBatch, options: SegmenterOptions, thresholds: Floats1d, is_probabilistic: bool
) -> Decoded:
    """The spans of sequences; thresholds: of each label. is_probabilistic: whether the loss is."""
    if options.overlapping:
        return Decoded(*batch.likely_spans(thresholds, options.temperature))
    if options.n_best == 1:
        return Decoded(*_sure(batch, batch.best_path(), options, thresholds))
    paths, scores = batch.best_paths(options.n_best)
    ranked = batch.ranked(paths, scores, is_probabilistic)
    return Decoded(*_sure(batch, paths[0], options, thresholds), ranked)


def _sure(
    batch: ScoredBatch, path: Ints1d, options: SegmenterOptions, thresholds: Floats1d
) -> tuple[Spans, Floats1d | None]:
    """The spans of a path that are sure enough, and their confidences."""
    spans = batch.spans(path)
    if not options.confidence:
        return spans, None
    confidences = batch.posteriors(path, spans, options.temperature)
    kept = confidences >= thresholds[spans.label]
    return select(spans, kept), confidences[kept]
