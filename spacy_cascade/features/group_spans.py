"""The spans of a span group of a batch of Docs as arrays, with their confidences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from spacy.tokens import Doc, SpanGroup

from ..caching import cached_property
from ..types import Bools1d, Floats1d, Keys1d, Pointers1d
from .scored_spans import CONFIDENCE_ATTRIBUTE, scored_keys
from .strings import hash_string

OUTSIDE = hash_string("O")
"""Value of tokens in no span."""


class GroupSpans(NamedTuple):
    """Spans of a group.

    start, end (exclusive): int64 `[F]`. label: uint64 `[F]`, spaCy's hashes. confidence: float64
    `[F]`, 1 where the group gives none.
    """

    start: Pointers1d
    end: Pointers1d
    label: Keys1d
    confidence: Floats1d

    def take(self, numbers: Pointers1d) -> GroupSpans:
        """Some of the spans, in the given order."""
        start, end, label, confidence = self
        return GroupSpans(start[numbers], end[numbers], label[numbers], confidence[numbers])

    def tokens(self) -> Pointers1d:
        """Numbers of the tokens in spans, span by span."""
        lengths = self.end - self.start
        before = np.cumsum(lengths) - lengths
        numbers: Pointers1d = np.arange(lengths.sum()) + np.repeat(self.start - before, lengths)
        return numbers


@dataclass(frozen=True)
class BatchGroup:
    """A span group of the Docs of a batch; its spans are read once, whatever templates ask for.

    spans: as they stand there, in any order and perhaps with overlap, counted from the first token
    of the batch; none is empty. is_given: bool `[T]`, tokens of Docs that have the group. texts:
    of the labels, by their hashes.
    """

    spans: GroupSpans
    is_given: Bools1d
    texts: Mapping[int, str]

    @cached_property
    def disjoint(self) -> GroupSpans:
        """The spans in ascending order and without overlap.

        Where spans overlap, the longest one is kept, and the last one of those that are equally
        long.
        """
        start, end = self.spans.start, self.spans.end
        order = outermost(start, end, -np.arange(len(start)))
        if (start[order[1:]] < end[order[:-1]]).any():
            order = _longest(start, end)
        return self.spans.take(order)

    @cached_property
    def tags(self) -> Keys1d:
        """Hashes of the IOB2 tags that the spans give the tokens, uint64 `[T]`.

        0 in Docs that have no such group. Where spans overlap, the longest one counts, and the
        last one of those that are equally long.
        """
        values = np.where(self.is_given, OUTSIDE, np.uint64(0))
        painted = self.spans.take(np.argsort(self.spans.end - self.spans.start, kind="stable"))
        labels, number = np.unique(painted.label, return_inverse=True)
        texts = [self.texts[label] for label in labels.tolist()]
        begin, inside = (
            np.array([hash_string(f"{prefix}-{text}") for text in texts], dtype=np.uint64)
            for prefix in "BI"
        )
        lengths = painted.end - painted.start
        of_tokens = np.repeat(inside[number], lengths)
        of_tokens[np.cumsum(lengths) - lengths] = begin[number]
        values[painted.tokens()] = of_tokens  # of several values of a token the last one stays
        return values


def read_group(docs: Sequence[Doc], key: str, doc_starts: Pointers1d) -> BatchGroup:
    """The spans of `doc.spans[key]` of each Doc; doc_starts: of all tokens, int64 `[D + 1]`."""
    groups = [doc.spans.get(key) for doc in docs]
    columns = [_columns(group) for group in groups if group is not None]
    none = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint64)
    start, end, label = map(np.concatenate, zip(none, *columns, strict=True))
    sizes = [len(own[0]) for own in columns]
    doc = np.repeat([i for i, group in enumerate(groups) if group is not None], sizes).astype(int)
    given = (group for group in groups if group is not None)
    confidences = [_confidences(group, n) for group, n in zip(given, sizes, strict=True)]
    first = doc_starts[doc]
    sure = np.concatenate([np.zeros(0), *confidences])
    spans = GroupSpans(start + first, end + first, label, sure)
    labels, first = np.unique(spans.label, return_index=True)
    texts = {
        number: docs[i].vocab.strings[number]
        for number, i in zip(labels.tolist(), doc[first].tolist(), strict=True)
    }
    is_given = np.repeat([group is not None for group in groups], np.diff(doc_starts))
    return BatchGroup(spans.take(np.flatnonzero(spans.start < spans.end)), is_given, texts)


def _columns(group: SpanGroup) -> tuple[Pointers1d, Pointers1d, Keys1d]:
    """Start, end and label of the spans of a group."""
    table = getattr(group, "table", None)  # of a group that this package wrote
    if table is not None:
        return table.start, table.end, table.label
    rows = [(span.start, span.end, span.label) for span in group]
    start, end, label = zip(*rows, strict=True) if rows else ((), (), ())
    return (
        np.array(start, dtype=np.int64),
        np.array(end, dtype=np.int64),
        np.array(label, dtype=np.uint64),
    )


def _confidences(group: SpanGroup, n_spans: int) -> Sequence[float] | Floats1d:
    scores: Sequence[float] | None = group.attrs.get(CONFIDENCE_ATTRIBUTE)
    # A group of this package says whether its spans are still those that it was written with.
    keys = None if getattr(group, "is_as_written", False) else scored_keys(group.attrs)
    if scores is not None and keys is not None:
        known = dict(zip(keys, scores, strict=True))
        return [known.get((s.start_char, s.end_char, s.label), 1.0) for s in group]
    return np.ones(n_spans) if scores is None or len(scores) != n_spans else scores


def outermost(start: Pointers1d, end: Pointers1d, ranks: Pointers1d) -> Pointers1d:
    """Numbers of the spans that are inside no other one, ascending by start.

    Of equal bounds, the one of the least rank. Some of them may cross each other.
    """
    order = np.lexsort((ranks, -end, start))
    # They reach beyond all before them.
    reach = np.append(0, np.maximum.accumulate(end[order]))
    found: Pointers1d = order[end[order] > reach[:-1]]
    return found


def _longest(start: Pointers1d, end: Pointers1d) -> Pointers1d:
    """Numbers of spans without overlap, longer and later ones first, in ascending order."""
    taken: set[int] = set()
    kept = []
    bounds = list(zip(start.tolist(), end.tolist(), range(len(start)), strict=True))
    for first, after, i in sorted(bounds, key=lambda b: (b[1] - b[0], b[2]), reverse=True):
        if taken.isdisjoint(range(first, after)):
            taken.update(range(first, after))
            kept.append((first, i))
    return np.array([i for _, i in sorted(kept)], dtype=np.int64)


def join_groups(parts: Sequence[BatchGroup], offsets: Sequence[int]) -> BatchGroup:
    """The groups of several batches as one, each counted from its own offset."""
    spans = GroupSpans(
        np.concatenate([part.spans.start + n for part, n in zip(parts, offsets, strict=True)]),
        np.concatenate([part.spans.end + n for part, n in zip(parts, offsets, strict=True)]),
        np.concatenate([part.spans.label for part in parts]),
        np.concatenate([part.spans.confidence for part in parts]),
    )
    texts = {label: text for part in parts for label, text in part.texts.items()}
    return BatchGroup(spans, np.concatenate([part.is_given for part in parts]), texts)
