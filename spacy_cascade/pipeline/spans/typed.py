"""What a classifier finds in Docs: the types of spans, and how they are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from spacy.tokens import Doc

from ...features.scored_spans import only_added
from ...types import Bools1d, Floats1d, Ints1d
from .confidences import records_of, scores_of
from .entities import CONFIDENCE_ATTRIBUTE, write_entities, write_group
from .tables import SpanTable, join_tables, split_table
from .typed_candidates import KEPT, TypedCandidates


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
    labels: Sequence[int], thresholds: Floats1d, set_ents: bool,
) -> None:  # fmt: skip
    """Write the types and confidences to `doc.spans[key]`, and with `set_ents` to `doc.ents`.

    Other attributes of the group stay. key: None where the spans are those of `doc.ents`; the
    group is called `name` then. labels, thresholds: hash and threshold of each type. Where spans
    overlap, those with the largest sum of confidences less thresholds become entities, or the
    longest ones where only their types have confidences.
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
            is_ranked = attributes.get(CONFIDENCE_ATTRIBUTE) is not None
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
