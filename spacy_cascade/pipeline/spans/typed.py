"""What a classifier finds in Docs: the types of spans, and how they are written.

A span of an N-best list is typed once, whatever segmentations have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from spacy.attrs import ENT_IOB
from spacy.tokens import Doc, SpanGroup

from ...features.scored_spans import only_added
from ...types import Bools1d, Floats1d, Floats2d, Ints1d, Keys1d, Pointers1d, Pointers2d
from .confidences import records_of, scores_of
from .entities import CONFIDENCE_ATTRIBUTE, write_entities, write_group
from .groups import LastingGroup, table_of_group
from .nbest import BOUNDS, candidate_groups
from .tables import SpanTable, join_tables, split_table

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


_NOTHING_LISTED = DistinctSpans([], np.zeros((0, 2), np.int64), np.zeros(0, np.int64), [0])


@dataclass(frozen=True)
class TypedCandidates:
    """An N-best list with the scores `[U, C]` and type numbers `[U]` of its distinct spans."""

    distinct: DistinctSpans
    scores: Floats2d
    types: Ints1d


def distinct_spans(docs: Sequence[Doc], key: str | None) -> list[DistinctSpans]:
    """The spans of each Doc's N-best list under the key; none where there is no list."""
    groups = [[] if key is None else candidate_groups(doc, key) for doc in docs]
    if not any(groups):
        return [_NOTHING_LISTED] * len(docs)
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
            further["earlier_iob"] = _entity_codes(doc)
        new = of_spans[i:j]
        if not keeps_none:
            new = np.where(typed_spans[i:j], new, table_of_group(group).label)
        _set_labels(doc, group, new, further)


def _entity_codes(doc: Doc) -> npt.NDArray[np.int8]:
    """`token.ent_iob` of all tokens; to find that no Doc has any takes a tenth of reading them."""
    if not doc.has_annotation(ENT_IOB):
        return np.zeros(len(doc), dtype=np.int8)
    return np.asarray(doc.to_array(ENT_IOB)).astype(np.int8)


def _set_labels(doc: Doc, group: SpanGroup, label: Keys1d, further: dict[str, Any]) -> None:
    """Give the spans of a group other labels, and the group further attributes."""
    if isinstance(group, LastingGroup) and group.relabel(label):
        group.attrs.update(further)
        return
    table, attrs = table_of_group(group).with_labels(label), {**group.attrs, **further}
    doc.spans[group.name] = LastingGroup(doc, name=group.name, table=table, attrs=attrs)


@dataclass(frozen=True)
class TypedSpans:
    """Types of the spans of one Doc.

    spans: those of the Doc, in its order, with the labels that they had. types: int32 `[P]`,
    numbers of labels or `KEPT`. confidences: float64 `[P]`, probability of the type, times that of
    the span where the component that found it gave one; None when switched off. candidates: the
    N-best list, typed; None where there is none.
    """

    spans: SpanTable
    types: Ints1d
    confidences: Floats1d | None
    candidates: TypedCandidates | None = None

    def take(self, chosen: Bools1d) -> TypedSpans:
        """Some of the spans, by a mask."""
        sure = None if self.confidences is None else self.confidences[chosen]
        return replace(
            self, spans=self.spans.take(chosen), types=self.types[chosen], confidences=sure
        )


def typed_spans(
    tables: Sequence[SpanTable],
    is_typed: Bools1d,
    types: Ints1d,
    confidences: Floats1d | None,
    candidates: Sequence[TypedCandidates | None],
) -> list[TypedSpans]:
    """What was found in each Doc.

    tables: the spans of each Doc. is_typed: bool `[P]`, of the spans of all Docs. types: those of
    the typed ones. confidences: float64 `[P]`, or None. candidates: of each Doc.
    """
    all_types = np.full(len(is_typed), KEPT, dtype=np.int32)
    all_types[is_typed] = types
    found, begin = [], 0
    for table, of_doc in zip(tables, candidates, strict=True):
        part = slice(begin, begin + table.n_spans)
        begin = part.stop
        sure = None if confidences is None else confidences[part]
        found.append(TypedSpans(table, all_types[part], sure, of_doc))
    return found


def joint_confidences(
    docs: Sequence[Doc], key: str | None, tables: Sequence[SpanTable], is_typed: Bools1d,
    probabilities: Floats1d,
) -> Floats1d:  # fmt: skip
    """Confidence of each of the spans under the key, times the probability of its type.

    tables: the spans of each Doc. is_typed: bool `[P]`, of those of all Docs. probabilities: of the
    types of those that are.
    """
    given = (_given_confidences(doc, key) for doc in docs)
    confidences = np.concatenate(
        [
            np.ones(table.n_spans) if earlier is None else earlier
            for table, earlier in zip(tables, given, strict=True)
        ]
    )
    confidences[is_typed] *= probabilities
    return confidences


def write_typed(
    docs: Sequence[Doc], key: str | None, name: str, found: Sequence[TypedSpans],
    labels: Sequence[int], thresholds: Floats1d, set_ents: bool, are_ranked: bool = True,
) -> None:  # fmt: skip
    """Write the types and confidences to `doc.spans[key]`, and with `set_ents` to `doc.ents`.

    Other attributes of the group stay. key: None where the spans are those of `doc.ents`; the
    group is called `name` then. labels, thresholds: hash and threshold of each type. Where spans
    overlap, those with the largest sum of confidences less thresholds become entities; the longest
    ones where they are not ranked, or where only their types have confidences.
    """
    if not found:
        return
    n_spans = [each.spans.n_spans for each in found]
    types = np.concatenate([each.types for each in found])
    spans, is_typed = join_tables([each.spans for each in found]), types != KEPT
    label = spans.label.copy()
    label[is_typed] = np.array(labels, dtype=np.uint64)[types[is_typed]]
    tables = split_table(spans.with_labels(label), n_spans)
    confidences = np.concatenate(
        [np.ones(len(f.types)) if f.confidences is None else f.confidences for f in found]
    )
    gains = confidences - np.append(thresholds, 0.0)[types]  # `KEPT` is the last one
    kept = is_typed & (gains >= 0)
    records = records_of(tables, [each.confidences for each in found], kept & set_ents)
    begin = 0
    for doc, each, table, record in zip(docs, found, tables, records, strict=True):
        part = slice(begin, begin + table.n_spans)
        begin = part.stop
        group = None if key is None else doc.spans.get(key)
        attributes = {} if group is None else group.attrs
        if set_ents:
            chosen = kept[part]
            entities = table if chosen.all() else table.take(chosen)
            replaced = entities if key is None else None
            is_ranked = are_ranked and attributes.get(CONFIDENCE_ATTRIBUTE) is not None
            ranks = gains[part][chosen] if is_ranked else None
            record = only_added(record, write_entities(doc, entities, replaced, ranks))
        own = name if key is None else key
        write_group(doc, own, table, each.confidences, attributes, record)


def _given_confidences(doc: Doc, key: str | None) -> Floats1d | None:
    """What the component that found the spans gave them, 1 where it gave a span none.

    None where it gave nothing at all.
    """
    group = None if key is None else doc.spans.get(key)
    return None if group is None else scores_of(group, unknown=1.0)
