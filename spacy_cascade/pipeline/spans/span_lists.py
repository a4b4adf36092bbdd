"""All likely spans of a batch, overlapping ones among them, and which of them to keep."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import ConfigError
from ...features.tokens import Tokens
from ...inference.lattice import Lattice
from ...inference.schemes import UNOBSERVED, Spans, TagSet
from ...inference.spans import best_disjoint, likely_spans
from ...types import Bools1d, Floats1d, Floats2d, Pointers1d

LEAST = 0.01
"""Spans of less probability are not listed, whatever the threshold."""


def check_overlapping(settings: Mapping[str, Any], name: str) -> None:
    """Raise `ConfigError` for settings of a segmenter that cannot go with `overlapping`."""
    if not settings["overlapping"]:
        return
    if not settings["confidence"]:
        raise ConfigError(
            f"'{name}' lists overlapping spans by their confidences, but has none. Set "
            "confidence = true, or overlapping = false."
        )
    if settings["n_best"] > 1:
        raise ConfigError(
            f"'{name}' lists overlapping spans, of which no segmentation has them all. Set "
            "n_best = 1, or overlapping = false."
        )


def list_spans(
    tag_set: TagSet,
    lattice: Lattice,
    scores: Floats2d,
    transitions: Floats1d,
    tokens: Tokens,
    thresholds: Floats1d,
) -> tuple[Spans, Floats1d]:
    """The spans of a batch that are likely enough, by start and end, and their probabilities.

    scores `[T, S]`, transitions `[E]`: divided by the temperature. thresholds: of each label.
    """
    n_labels = lattice.n_labels
    open_tags = np.full(len(scores), UNOBSERVED, dtype=np.int32)
    least = max(LEAST, thresholds.min())
    n_found, room = len(scores), 0
    while n_found > room:  # a second time where there are more than one a token
        room = n_found
        start, end = np.empty((2, room), dtype=np.int64)
        label, probabilities = np.empty(room, dtype=np.int32), np.empty(room)
        n_found = likely_spans(
            lattice, scores, transitions, np.zeros((n_labels + 1, n_labels)), open_tags,
            tokens.sequence_starts, tag_set.span_labels, least, start, end, label, probabilities,
        )  # fmt: skip
    sure = np.flatnonzero(probabilities[:n_found] >= thresholds[label[:n_found]])
    order = sure[np.lexsort((end[sure], start[sure]))]
    return Spans(start[order], end[order], label[order]), probabilities[order]


def choose_disjoint(start: Pointers1d, end: Pointers1d, gains: Floats1d) -> Bools1d:
    """Which spans, in any order, have the largest sum of gains without overlap."""
    order = np.argsort(end, kind="stable")
    chosen = np.empty(len(end), dtype=np.bool_)
    best_disjoint(start[order], end[order], gains[order], chosen)
    found = np.empty_like(chosen)
    found[order] = chosen
    return found
