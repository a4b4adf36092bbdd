"""What a segmenter finds in a Doc; probabilities of classes, and thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from spacy.tokens import Doc

from ...errors import ConfigError
from ...features.scored_spans import only_added
from ...features.tokens import Tokens
from ...inference.schemes import Spans
from ...types import Floats1d, Floats2d, Pointers2d
from .confidences import records_of
from .entities import write_entities, write_group
from .nbest import Candidates, Ranked, candidates_by_doc
from .tables import new_tables

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


def joined(parts: Sequence[tuple[int, Decoded]]) -> Decoded:
    """What was found in all parts of a batch, each with its first token."""
    spans = _joined_spans([(begin, part.spans) for begin, part in parts])
    sure = [part.confidences for _, part in parts if part.confidences is not None]
    ranked = [(begin, part.ranked) for begin, part in parts if part.ranked is not None]
    return Decoded(
        spans, np.concatenate(sure) if sure else None, _joined_ranks(ranked) if ranked else None
    )


def _joined_ranks(parts: Sequence[tuple[int, Ranked]]) -> Ranked:
    by_rank = zip(*([(begin, spans) for spans in part.spans] for begin, part in parts), strict=True)
    spans = [_joined_spans(of_rank) for of_rank in by_rank]
    values = [part.log_probabilities for _, part in parts if part.log_probabilities is not None]
    scores = np.concatenate([part.scores for _, part in parts], axis=1)
    return Ranked(spans, scores, np.concatenate(values, axis=1) if values else None)


def _joined_spans(parts: Sequence[tuple[int, Spans]]) -> Spans:
    moved = [(s.start + begin, s.end + begin, s.label) for begin, s in parts]
    return Spans(*map(np.concatenate, zip(*moved, strict=True)))


def segments_by_doc(parts: Sequence[tuple[int, Decoded]], tokens: Tokens) -> list[Segments]:
    """What was found in the parts of a batch, each with its first token, for each Doc."""
    found = parts[0][1] if len(parts) == 1 else joined(parts)
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


def write_segments(
    docs: Sequence[Doc], key: str, found: Sequence[Segments], labels: Sequence[int],
    thresholds: Floats1d, set_ents: bool, characters: Pointers2d | None = None,
) -> None:  # fmt: skip
    """Write the spans and confidences to `doc.spans[key]`, and with `set_ents` to `doc.ents`.

    labels, thresholds: hash and threshold of each label. Where spans overlap, those with the
    largest sum of confidences less thresholds become entities. characters: as for `new_tables`.
    """
    if not docs:
        return
    spans = Spans(*map(np.concatenate, zip(*(each.spans for each in found), strict=True)))
    n_spans = [len(each.spans.start) for each in found]
    hashes = np.array(labels, dtype=np.uint64)[spans.label]
    tables = new_tables(docs, n_spans, spans.start, spans.end, hashes, characters)
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


class Thresholded(Protocol):
    """A component with thresholds on the confidences of its labels."""

    name: str
    threshold: float
    label_thresholds: dict[str, float]

    @property
    def labels(self) -> tuple[str, ...]: ...


def thresholds_of(pipe: Thresholded) -> Floats1d:
    """The threshold of each label, float64 `[C]`.

    Raises `ConfigError` for a threshold of a label that the component does not know.
    """
    labels, general, of_labels = pipe.labels, pipe.threshold, pipe.label_thresholds
    unknown = sorted(of_labels.keys() - set(labels))
    if unknown:
        raise ConfigError(
            f"'{pipe.name}' has a threshold for '{unknown[0]}', which it does not know. Its "
            f"labels: {', '.join(labels)}."
        )
    return np.array([of_labels.get(label, general) for label in labels], dtype=np.float64)


def check_thresholds(settings: Mapping[str, Any], name: str) -> None:
    """Raise `ConfigError` for thresholds without confidences; name: of the component."""
    has_thresholds = settings["threshold"] or settings["label_thresholds"]
    if has_thresholds and not settings["confidence"]:
        raise ConfigError(
            f"'{name}' has a threshold but no confidences. Set confidence = true, or leave out "
            "threshold and label_thresholds."
        )
