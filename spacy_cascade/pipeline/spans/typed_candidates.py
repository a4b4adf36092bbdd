"""The types of the spans in N-best lists: each span once, whatever segmentations have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np
from spacy.attrs import ENT_IOB
from spacy.tokens import Doc, SpanGroup

from ...types import Floats2d, Ints1d, Keys1d, Pointers1d, Pointers2d
from .groups import LastingGroup, table_of_group
from .nbest import BOUNDS, candidate_groups

KEPT = -1
"""Type number of a span that keeps the label it has: rejected, or not to be typed."""
_SHIFT = 32
_END = (1 << _SHIFT) - 1


@dataclass(frozen=True)
class DistinctSpans:
    """The spans of a Doc's N-best list, each once.

    groups: best first. bounds: int64 `[U, 2]`. rows: for the spans of all groups the numbers of
    these, int64 `[M]`. cuts: int `[N + 1]`, those of group `k` are `rows[cuts[k]:cuts[k + 1]]`.
    """

    groups: list[SpanGroup]
    bounds: Pointers2d
    rows: Pointers1d
    cuts: list[int]


@dataclass(frozen=True)
class TypedCandidates:
    """An N-best list with the scores `[U, C]` and type numbers `[U]` of its distinct spans."""

    distinct: DistinctSpans
    scores: Floats2d
    types: Ints1d


def distinct_spans(docs: Sequence[Doc], key: str | None) -> list[DistinctSpans]:
    """The spans of each Doc's N-best list under the key; none where there is no list."""
    groups = [[] if key is None else candidate_groups(doc, key) for doc in docs]
    of_groups = [[group.attrs[BOUNDS] for group in of_doc] for of_doc in groups]
    cuts = [[0, *accumulate(map(len, of_doc))] for of_doc in of_groups]
    bounds = [np.zeros((0, 2), dtype=np.int64), *chain.from_iterable(of_groups)]
    # Tokens are counted through all Docs, so that one search does for all.
    offsets = np.cumsum([0, *map(len, docs)])
    sizes = [of_doc[-1] for of_doc in cuts]
    start, end = np.concatenate(bounds).T + np.repeat(offsets[:-1], sizes)
    # With first places asked for, sorting is stable: quick on the ascending keys of each rank.
    keys = (start << _SHIFT) | end
    distinct, _, rows = np.unique(keys, return_index=True, return_inverse=True)
    both = np.stack([distinct >> _SHIFT, distinct & _END], axis=1)
    first = np.searchsorted(both[:, 0], offsets).tolist()
    row_cuts = [0, *accumulate(sizes)]
    return [
        DistinctSpans(
            groups[d],
            both[first[d] : first[d + 1]] - offsets[d],
            rows[row_cuts[d] : row_cuts[d + 1]] - first[d],
            cuts[d],
        )
        for d in range(len(docs))
    ]


def typed_lists(
    listed: Sequence[DistinctSpans], scores: Floats2d, types: Ints1d
) -> list[TypedCandidates | None]:
    """The list of each Doc, typed; None where it has none.

    scores `[U, C]`, types `[U]`: of the distinct spans of all lists, one after the other.
    """
    found, end = list[TypedCandidates | None](), 0
    for distinct in listed:
        part = slice(end, end + len(distinct.bounds))
        end = part.stop
        typed = TypedCandidates(distinct, scores[part], types[part])
        found.append(typed if distinct.groups else None)
    return found


def write_types(doc: Doc, typed: TypedCandidates, classes: list[str], labels: list[int]) -> None:
    """Write the list with its types and scores, and which tokens have entities already.

    classes: names of the columns of the scores. labels: hashes by type number.
    """
    distinct, types = typed.distinct, typed.types
    is_typed, hashes = types != KEPT, np.array(labels, dtype=np.uint64)
    label = np.zeros(len(types), dtype=np.uint64)
    label[is_typed] = hashes[types[is_typed]]
    rows = distinct.rows
    of_spans, typed_spans, scores = label[rows], is_typed[rows], typed.scores[rows]
    keeps_none = bool(is_typed.all())
    for rank, (group, (i, j)) in enumerate(
        zip(distinct.groups, pairwise(distinct.cuts), strict=True)
    ):
        further: dict[str, Any] = {"classes": classes, "class_scores": scores[i:j]}
        if rank == 0:
            further["earlier_iob"] = np.asarray(doc.to_array(ENT_IOB)).astype(np.int8)
        new = of_spans[i:j]
        if not keeps_none:
            new = np.where(typed_spans[i:j], new, table_of_group(group).label)
        _set_labels(doc, group, new, further)


def _set_labels(doc: Doc, group: SpanGroup, label: Keys1d, further: dict[str, Any]) -> None:
    """Give the spans of a group other labels, and the group further attributes."""
    if isinstance(group, LastingGroup) and group.relabel(label):
        group.attrs.update(further)
        return
    table, attrs = table_of_group(group).with_labels(label), {**group.attrs, **further}
    doc.spans[group.name] = LastingGroup(doc, name=group.name, table=table, attrs=attrs)
