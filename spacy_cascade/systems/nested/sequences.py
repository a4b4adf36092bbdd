"""Sequences of a batch with the spans found so far, from level to level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...features.group_spans import BatchGroup, GroupSpans
from ...features.tokens import FURTHER, Tokens
from ...inference.schemes import Spans
from ...types import Bools1d, Floats1d, Keys1d, Pointers1d


def fitting(found: GroupSpans, spans: Spans) -> Bools1d:
    """Which spans hold all found ones that they share tokens with, and are none of them; `[P]`.

    found: outermost ones, in ascending order and without overlap.
    """
    first = np.searchsorted(found.end, spans.start, side="right")
    after = np.searchsorted(found.start, spans.end, side="left")
    begins, ends = np.append(found.start, -1)[first], np.append(found.end, -1)[after - 1]
    holds = (begins >= spans.start) & (ends <= spans.end)
    is_same = (after - first == 1) & (begins == spans.start) & (ends == spans.end)
    fits: Bools1d = (first == after) | (holds & ~is_same)
    return fits


class Labels(NamedTuple):
    """Labels by their numbers: hashes, uint64 `[C]`, and texts."""

    hashes: Keys1d
    texts: Sequence[str]


def with_spans(
    tokens: Tokens, key: str, spans: Spans, labels: Labels, confidences: Floats1d | None = None
) -> Tokens:
    """The tokens of a batch with further spans in a group."""
    group = tokens.groups[key]
    old, sure = group.spans, np.ones(len(spans.start)) if confidences is None else confidences
    joined = GroupSpans(
        np.concatenate([old.start, spans.start]),
        np.concatenate([old.end, spans.end]),
        np.concatenate([old.label, labels.hashes[spans.label]]),
        np.concatenate([old.confidence, sure]),
    )
    texts = {**group.texts, **dict(zip(labels.hashes.tolist(), labels.texts, strict=True))}
    changed = replace(group, spans=joined, texts=texts)
    return replace(tokens, groups={**tokens.groups, key: changed})


def with_any(tokens: Tokens, starts: Pointers1d) -> Pointers1d:
    """Numbers of the sequences in which spans start; starts: first tokens of spans."""
    return np.unique(np.searchsorted(tokens.sequence_starts, starts, side="right") - 1)


def take_sequences(tokens: Tokens, chosen: Pointers1d) -> tuple[Tokens, Pointers1d]:
    """Some sequences of a batch, each as a Doc of its own, and the numbers that its tokens had.

    chosen: numbers of sequences, ascending. Spans that go beyond a sequence are left out.
    """
    starts = tokens.sequence_starts
    lengths = np.diff(starts)[chosen]
    own_starts = np.append(0, np.cumsum(lengths))
    numbers = np.arange(own_starts[-1]) + np.repeat(starts[chosen] - own_starts[:-1], lengths)
    further = {name: getattr(tokens, name) for name in FURTHER}
    taken = replace(
        tokens,
        words=tokens.words[numbers],
        sequence_starts=own_starts,
        doc_starts=own_starts,
        has_sentences=np.ones(len(chosen), dtype=np.bool_),
        groups={
            key: _group(group, starts, chosen, own_starts, numbers)
            for key, group in tokens.groups.items()
        },
        **{name: values[numbers] if len(values) else values for name, values in further.items()},
    )
    return taken, numbers


def _group(
    group: BatchGroup,
    starts: Pointers1d,
    chosen: Pointers1d,
    own_starts: Pointers1d,
    numbers: Pointers1d,
) -> BatchGroup:
    spans = group.spans
    sequence = np.searchsorted(starts, spans.start, side="right") - 1
    inside = np.isin(sequence, chosen) & (spans.end <= starts[sequence + 1])
    kept, sequence = spans.take(np.flatnonzero(inside)), sequence[inside]
    moved = own_starts[np.searchsorted(chosen, sequence)] - starts[sequence]
    kept = kept._replace(start=kept.start + moved, end=kept.end + moved)
    return replace(group, spans=kept, is_given=group.is_given[numbers])
