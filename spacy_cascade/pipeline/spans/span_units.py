"""Spans of Docs as units of a classifier, and the probabilities of its classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...features.space import FeatureSpace
from ...features.span_context import FoundSpans, SpanContext
from ...features.tokens import Tokens
from ...features.units import Units
from ...types import Floats2d, Ints2d, Pointers2d
from .gold import GoldSpans
from .typed_groups import Bounds

BoundsArray = Pointers2d
"""Start and end (exclusive) of spans of a Doc, int64 `[P, 2]`."""
_EMPTY = np.zeros((0, 2), dtype=np.int64)


def joined(bounds: Sequence[Bounds], further: BoundsArray = _EMPTY) -> BoundsArray:
    """Bounds from a list, and those of an array after them."""
    return np.concatenate([np.array(bounds, dtype=np.int64).reshape(-1, 2), further])


def in_batch(spans: Sequence[BoundsArray], tokens: Tokens) -> BoundsArray:
    """Bounds in each Doc as bounds in the batch."""
    return np.concatenate(
        [_EMPTY, *(s + offset for s, offset in zip(spans, tokens.doc_starts, strict=False))]
    )


def gold_bounds(gold: Sequence[GoldSpans]) -> list[BoundsArray]:
    """Bounds of the gold spans of each Doc."""
    return [joined([(start, end) for start, end, _ in g.spans]) for g in gold]


def span_units(
    space: FeatureSpace,
    string_of: Callable[[int], str],
    tokens: Tokens,
    spans: Sequence[BoundsArray],
    found: Sequence[BoundsArray],
    own_flags: Ints2d | None = None,
) -> Units:
    """Spans of Docs, given by their bounds in each, as units; own_flags as in training.

    string_of: text of a hash. found: the segmentation that the spans are seen in; its labels are
    not known yet.
    """
    bounds = in_batch(spans, tokens)
    positions = space.positions(tokens, string_of, own_flags)
    context = np.zeros((0, 0), dtype=np.uint64)
    if space.plan.context:
        of_batch = in_batch(found, tokens)
        untyped = FoundSpans.of(of_batch, np.ones(len(of_batch), dtype=np.uint64))
        around = SpanContext(tokens, bounds[:, 0], bounds[:, 1], untyped)
        context = around.values(space.plan.context)
    return Units(
        positions,
        positions.of_token[bounds[:, 0]],
        positions.of_token[bounds[:, 1] - 1],
        context,
    )


def class_probabilities(scores: Floats2d, temperature: float) -> Floats2d:
    """Probabilities of the classes `[P, C]` of spans: `softmax(scores / temperature)`."""
    if not scores.size:
        return scores
    weights: Floats2d = np.exp((scores - scores.max(axis=1, keepdims=True)) / temperature)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights
