"""What a segmenter finds in a Doc; probabilities of classes, and thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from spacy.tokens import Doc

from ...errors import ConfigError
from ...features.scored_spans import only_added
from ...features.tokens import Tokens
from ...inference.schemes import Spans
from ...types import Floats1d, Floats2d
from .confidences import records_of
from .entities import write_entities, write_group
from .nbest import Candidates, Ranked, candidates_by_doc
from .tables import SpanTable, new_tables

_BLOCK = 1 << 17
"""Numbers that are looked at together: a megabyte, which stays near the processor."""


@dataclass(frozen=True)
class Segments:
    """Spans found in one Doc, the confidence of each and the N best where asked for."""

    spans: Spans
    confidences: Floats1d | None
    candidates: Candidates | None = None


def no_segments(has_confidences: bool, n: int, is_probabilistic: bool) -> Segments:
    """What is found in a Doc without tokens; n: how many segmentations are asked for."""
    empty = Spans(*(np.zeros(0, dtype=np.int64),) * 2, np.zeros(0, dtype=np.int32))
    confidences = np.zeros(0) if has_confidences else None
    if n == 1:
        return Segments(empty, confidences)
    scores = np.zeros((n, 0))
    log_probabilities = scores if is_probabilistic else None
    return Segments(empty, confidences, Candidates([], empty, [0] * n, scores, log_probabilities))


@dataclass(frozen=True)
class Decoded:
    """Spans found in sequences, ascending, the confidence of each and the N best if asked for."""

    spans: Spans
    confidences: Floats1d | None
    ranked: Ranked | None = None


def join_decoded(parts: Sequence[tuple[int, Decoded]]) -> Decoded:
    """What was found in all parts of a batch, each with its first token."""
    if len(parts) == 1:
        return parts[0][1]
    spans = _joined([(begin, part.spans) for begin, part in parts])
    of_spans = [part.confidences for _, part in parts if part.confidences is not None]
    confidences = np.concatenate(of_spans) if of_spans else None
    ranked = [(begin, part.ranked) for begin, part in parts if part.ranked is not None]
    return Decoded(spans, confidences, _join_ranked(ranked) if ranked else None)


def _join_ranked(parts: Sequence[tuple[int, Ranked]]) -> Ranked:
    n_ranks = len(parts[0][1].spans)
    spans = [_joined([(begin, part.spans[k]) for begin, part in parts]) for k in range(n_ranks)]
    values = [part.log_probabilities for _, part in parts if part.log_probabilities is not None]
    scores = np.concatenate([part.scores for _, part in parts], axis=1)
    return Ranked(spans, scores, np.concatenate(values, axis=1) if values else None)


def _joined(parts: Sequence[tuple[int, Spans]]) -> Spans:
    moved = [(s.start + begin, s.end + begin, s.label) for begin, s in parts]
    return Spans(*map(np.concatenate, zip(*moved, strict=True)))


def segments_by_doc(found: Decoded, tokens: Tokens) -> list[Segments]:
    """What was found in a batch, for each Doc."""
    spans, confidences = found.spans, found.confidences
    cuts = np.searchsorted(spans.start, tokens.doc_starts)
    offsets = np.repeat(tokens.doc_starts[:-1], np.diff(cuts))
    start, end, label = spans.start - offsets, spans.end - offsets, spans.label
    candidates: Sequence[Candidates | None] = [None] * (len(cuts) - 1)
    if found.ranked is not None:
        candidates = candidates_by_doc(found.ranked, tokens)
    segments = []
    for (i, j), of_doc in zip(pairwise(cuts.tolist()), candidates, strict=True):
        own = None if confidences is None else confidences[i:j]
        segments.append(Segments(Spans(start[i:j], end[i:j], label[i:j]), own, of_doc))
    return segments


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


def write_segments(
    docs: Sequence[Doc], key: str, found: Sequence[Segments], labels: Sequence[int],
    thresholds: Floats1d, set_ents: bool,
) -> None:  # fmt: skip
    """Write the spans and confidences to `doc.spans[key]`, and with `set_ents` to `doc.ents`.

    labels, thresholds: hash and threshold of each label. Where spans overlap, those with the
    largest sum of confidences less thresholds become entities.
    """
    tables = found_tables(docs, [each.spans for each in found], labels)
    records = records_of(tables, [each.confidences for each in found], set_ents)
    for doc, each, table, record in zip(docs, found, tables, records, strict=True):
        sure = each.confidences
        if set_ents:
            gains = None if sure is None else sure - thresholds[each.spans.label]
            record = only_added(record, write_entities(doc, table, gains=gains))
        write_group(doc, key, table, sure, record=record)


def class_probabilities(scores: Floats2d, temperature: float) -> Floats2d:
    """Probabilities of the classes `[P, C]` of spans: `softmax(scores / temperature)`."""
    if not scores.size:
        return scores
    weights: Floats2d = np.exp((scores - scores.max(axis=1, keepdims=True)) / temperature)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def best_probabilities(scores: Floats2d, temperature: float) -> Floats1d:
    """The largest of the `class_probabilities` of each span `[P]`, without writing down the others.

    It is that of the class with the highest score, `1 / Σ exp((score - highest) / temperature)`.
    """
    found, n_rows = np.empty(len(scores)), max(1, _BLOCK // max(1, scores.shape[1]))
    for begin in range(0, len(scores), n_rows):
        block = scores[begin : begin + n_rows]
        weights = block - block.max(axis=1, keepdims=True)
        weights /= temperature
        np.exp(weights, out=weights)
        found[begin : begin + n_rows] = 1.0 / weights.sum(axis=1)
    return found


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


def check_thresholds(settings: Mapping[str, Any], name: str) -> None:
    """Raise `ConfigError` for thresholds on confidences that there are not; name: as above."""
    has_thresholds = settings["threshold"] or settings["label_thresholds"]
    if has_thresholds and not settings["confidence"]:
        raise ConfigError(
            f"'{name}' has a threshold but no confidences. Set confidence = true, or leave out "
            "threshold and label_thresholds."
        )
