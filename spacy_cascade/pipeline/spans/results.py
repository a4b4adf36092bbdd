"""What a segmenter finds in a Doc; probabilities of classes, and thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from spacy.tokens import Doc

from ...errors import ConfigError
from ...features.tokens import Tokens
from ...inference.schemes import Spans
from ...types import Floats1d, Floats2d
from .nbest import Candidates
from .tables import SpanTable, new_tables


@dataclass(frozen=True)
class Segments:
    """Spans found in one Doc, the confidence of each and the N best where asked for."""

    spans: Spans
    confidences: Floats1d | None
    candidates: Candidates | None = None


def segments_by_doc(spans: Spans, confidences: Floats1d | None, tokens: Tokens) -> list[Segments]:
    """Spans of a batch in ascending order, and their confidences, for each Doc."""
    cuts = np.searchsorted(spans.start, tokens.doc_starts)
    offsets = np.repeat(tokens.doc_starts[:-1], np.diff(cuts))
    start, end, label = spans.start - offsets, spans.end - offsets, spans.label
    found = []
    for i, j in pairwise(cuts.tolist()):
        own = None if confidences is None else confidences[i:j]
        found.append(Segments(Spans(start[i:j], end[i:j], label[i:j]), own))
    return found


def found_tables(
    docs: Sequence[Doc], found: Sequence[Spans], labels: Sequence[int]
) -> list[SpanTable]:
    """Spans that were found in each Doc; labels: hashes of the labels by number."""
    if not docs:
        return []
    spans = Spans(*map(np.concatenate, zip(*found, strict=True)))
    n_spans = [len(of_doc.start) for of_doc in found]
    hashes = np.array(labels, dtype=np.uint64)[spans.label]
    return new_tables(docs, n_spans, spans.start, spans.end, hashes)


def class_probabilities(scores: Floats2d, temperature: float) -> Floats2d:
    """Probabilities of the classes `[P, C]` of spans: `softmax(scores / temperature)`."""
    if not scores.size:
        return scores
    weights: Floats2d = np.exp((scores - scores.max(axis=1, keepdims=True)) / temperature)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def thresholds_of(
    general: float, by_label: Mapping[str, float], labels: Sequence[str], name: str
) -> Floats1d:
    """The threshold of each label, float64 `[C]`; name: of the component.

    Raises `ConfigError` for a threshold of a label that the component does not know.
    """
    unknown = sorted(set(by_label) - set(labels))
    if unknown:
        raise ConfigError(
            f"'{name}' has a threshold for '{unknown[0]}', which it does not know. Its labels: "
            f"{', '.join(labels)}."
        )
    return np.array([by_label.get(label, general) for label in labels], dtype=np.float64)
