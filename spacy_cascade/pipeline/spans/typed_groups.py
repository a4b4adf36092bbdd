"""Types of the spans in an N-best list, each distinct span scored once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from spacy.attrs import ENT_IOB
from spacy.tokens import Doc, Span, SpanGroup

from ...types import Floats2d, Ints1d, Pointers1d, Pointers2d
from .nbest import BOUNDS, CLASS_SCORES, CLASSES, EARLIER_IOB, candidate_groups

Bounds = tuple[int, int]
"""Start and end (exclusive) of a span in its Doc."""
_SHIFT = 32
_END = (1 << _SHIFT) - 1
KEPT = -1
"""Type number of a span that keeps the label it has: rejected, or not to be typed."""


@dataclass(frozen=True)
class Groups:
    """The N-best list of a Doc.

    groups: best first. bounds: int64 `[U, 2]`, of all spans, each once. rows: for each group the
    numbers of its spans among them.
    """

    groups: list[SpanGroup]
    bounds: Pointers2d
    rows: list[Pointers1d]


@dataclass(frozen=True)
class TypedGroups:
    """An N-best list with the scores `[U, C]` and type numbers `[U]` of its distinct spans."""

    groups: Groups
    scores: Floats2d
    types: Ints1d


def bounds_of(spans: Iterable[Span]) -> list[Bounds]:
    """Start and end of each span."""
    return [(span.start, span.end) for span in spans]


def read_groups(doc: Doc, key: str | None) -> Groups:
    """The N-best list under the key, empty where there is none."""
    groups = [] if key is None else list(candidate_groups(doc, key))
    if not groups:
        return Groups([], np.zeros((0, 2), dtype=np.int64), [])
    bounds = [group.attrs[BOUNDS] for group in groups]
    keys = [(b[:, 0] << _SHIFT) | b[:, 1] for b in bounds]
    distinct = np.unique(np.concatenate(keys))
    return Groups(
        groups,
        np.stack([distinct >> _SHIFT, distinct & _END], axis=1),
        [np.searchsorted(distinct, k) for k in keys],
    )


def write_types(doc: Doc, typed: TypedGroups, classes: list[str], labels: list[int]) -> None:
    """Write the list with its types and scores, and which tokens have entities already.

    classes: names of the columns of the scores. labels: hashes by type number.
    """
    groups, types = typed.groups, typed.types.tolist()
    kept = _labels_of_kept(groups, types)
    made = [
        Span(doc, start, end, kept[start, end] if number == KEPT else labels[number])
        for (start, end), number in zip(groups.bounds.tolist(), types, strict=True)
    ]
    for group, rows in zip(groups.groups, groups.rows, strict=True):
        attrs = {**group.attrs, CLASSES: classes, CLASS_SCORES: typed.scores[rows]}
        spans = [made[row] for row in rows.tolist()]
        doc.spans[group.name] = SpanGroup(doc, name=group.name, attrs=attrs, spans=spans)
    earlier = np.asarray(doc.to_array(ENT_IOB)).astype(np.int8)
    doc.spans[groups.groups[0].name].attrs[EARLIER_IOB] = earlier


def _labels_of_kept(groups: Groups, types: list[int]) -> dict[Bounds, int]:
    """Labels that spans without a type have already."""
    if KEPT not in types:
        return {}
    return {(span.start, span.end): span.label for group in groups.groups for span in group}
