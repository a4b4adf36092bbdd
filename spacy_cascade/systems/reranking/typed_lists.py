"""Typed N-best lists of a batch of Docs as arrays; what is chosen among them, and its writing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from spacy.attrs import ENT_IOB
from spacy.strings import StringStore
from spacy.tokens import Doc, SpanGroup

from ...errors import ConfigError
from ...features.scored_spans import only_added
from ...pipeline.spans.confidences import records_of, scores_of
from ...pipeline.spans.entities import (
    CONFIDENCE_ATTRIBUTE,
    ENTITY_ATTRIBUTES,
    add_spans,
    entity_bounds,
    taken_tokens,
    tokens_of,
    write_group,
)
from ...pipeline.spans.gold import GoldSpans
from ...pipeline.spans.groups import size_of, table_of_group
from ...pipeline.spans.nbest import BOUNDS, candidate_groups
from ...pipeline.spans.placing import ENTITY, REJECTED
from ...pipeline.spans.tables import SpanKeys, SpanTable, find_spans, join_tables, new_tables
from ...types import Bools1d, Floats1d, Floats2d, Ints1d, Pointers1d, Pointers2d
from .minimum_risk import Lists, choose, span_posteriors

_SHIFT = 32
_SMALLEST_WEIGHT = 1e-9


@dataclass(frozen=True)
class TypedLists:
    """The lists of some Docs.

    lists: for kernels; spans and sentences in the order of the text. start, end: int64 `[U]`,
    tokens of the batch. doc_starts: `[D + 1]`. doc_spans: `[D + 1]`, the spans of each Doc.
    classes: names of the columns of the class scores, in alphabetical order.
    """

    lists: Lists
    start: Pointers1d
    end: Pointers1d
    doc_starts: Pointers1d
    doc_spans: Pointers1d
    classes: tuple[str, ...]

    def best(self, n: int) -> TypedLists:
        """The lists of the n best of these."""
        lists = self.lists
        rank = np.arange(len(lists.sequence_scores)) - np.repeat(
            lists.starts[:-1], np.diff(lists.starts)
        )
        kept = rank < n
        lengths = np.diff(lists.member_starts)
        shorter = lists._replace(
            starts=np.append(0, np.cumsum(kept))[lists.starts],
            member_starts=np.append(0, np.cumsum(lengths[kept])),
            members=lists.members[np.repeat(kept, lengths)],
            sequence_scores=lists.sequence_scores[kept],
        )
        return replace(self, lists=shorter)

    def weighted(self, scale: float, weight: float) -> Lists:
        """`scale · (sequence scores + weight · class scores)`.

        However small the weight, it decides between the classes of a span.
        """
        lists, weight = self.lists, max(weight, _SMALLEST_WEIGHT)
        return lists._replace(
            sequence_scores=scale * lists.sequence_scores,
            class_scores=scale * weight * lists.class_scores,
        )

    def chosen_spans(self, chosen: Ints1d) -> Pointers1d:
        """Numbers of the spans in the chosen segmentation of each sentence, ascending."""
        lists = self.lists
        there = chosen >= 0
        number = lists.starts[:-1][there] + chosen[there]
        first, last = lists.member_starts[number], lists.member_starts[number + 1]
        shifts = np.repeat(first - np.append(0, np.cumsum(last - first))[:-1], last - first)
        members: Pointers1d = lists.members[np.arange((last - first).sum()) + shifts]
        return members

    def errors(self, gold: Sequence[GoldSpans]) -> Floats2d:
        """What each class of each span adds to the number of errors, `[U, C]`.

        -1 where it is right, for one entity fewer is missed; 1 where it is wrong; 0 for a
        rejected span, and where the reference has no annotation.
        """
        errors = np.ones((len(self.start), len(self.classes)))
        if REJECTED in self.classes:
            errors[:, self.classes.index(REJECTED)] = 0.0
        keys = _keys(self.start, self.end)
        number = {label: i for i, label in enumerate(self.classes)}
        right = [
            (start + offset, end + offset, number[label])
            for offset, doc_gold in zip(self.doc_starts.tolist(), gold, strict=False)
            for start, end, label in doc_gold.spans
            if label in number
        ]
        if right and len(keys):
            start, end, label = np.array(right, dtype=np.int64).T
            wanted = _keys(start, end)
            place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            found = keys[place] == wanted
            errors[place[found], label[found]] = -1.0
        is_open = ~np.concatenate([g.observed for g in gold]) if gold else np.zeros(0, np.bool_)
        n_open = np.append(0, np.cumsum(is_open))
        errors[n_open[self.end] > n_open[self.start]] = 0.0
        return errors


def read_lists(docs: Sequence[Doc], key: str, where: str) -> TypedLists:
    """The N-best lists under the key, typed by the classifier.

    where: who reads them, for messages. Raises `ConfigError` where one is missing or damaged, or
    the classifier knows no types.
    """
    listed = [_read_attributes(doc, key, where) for doc in docs]
    doc_starts = np.append(0, np.cumsum([len(doc) for doc in docs], dtype=np.int64))
    offsets = doc_starts.tolist()
    n_sentences = [len(of_ranks[0]["sequence_starts"]) for of_ranks in listed]
    starts = [s + d for a, d in zip(listed, offsets, strict=False) for s in a[0]["sequence_starts"]]
    scores = np.full((max(map(len, listed), default=0), len(starts)), -np.inf)
    n_before = 0
    for of_ranks, n in zip(listed, n_sentences, strict=True):
        scores[: len(of_ranks), n_before : n_before + n] = [a["sequence_scores"] for a in of_ranks]
        n_before += n
    groups = [attributes for of_ranks in listed for attributes in of_ranks]
    sizes = [len(attributes[BOUNDS]) for attributes in groups]
    offset = np.repeat(doc_starts[:-1], list(map(len, listed)))
    rank = np.array([rank for of_ranks in listed for rank in range(len(of_ranks))], dtype=np.int64)
    bounds = np.concatenate([np.zeros((0, 2), dtype=np.int64), *(a[BOUNDS] for a in groups)])
    classes = listed[-1][0]["classes"] if listed else []
    if len(bounds) and not classes:
        raise ConfigError(
            f"{where} found spans to choose from, but cascade_classifier knows no types for them. "
            "Train cascade_classifier first."
        )
    columns = np.argsort(classes)
    values = [attributes["class_scores"] for attributes in groups]
    return _arrange(
        np.array(starts, dtype=np.int64),
        scores,
        bounds + np.repeat(offset, sizes)[:, None],
        np.repeat(rank, sizes),
        np.concatenate(values)[:, columns] if docs else np.zeros((0, 0)),
        doc_starts,
        tuple(sorted(classes)),
    )


def _arrange(
    starts: Pointers1d,
    scores: Floats2d,
    bounds: Pointers2d,
    rank: Pointers1d,
    class_scores: Floats2d,
    doc_starts: Pointers1d,
    classes: tuple[str, ...],
) -> TypedLists:
    """Spans and segmentations in the order of sentences; scores `[N, S]`, bounds `[M, 2]`."""
    exists = -np.inf < scores.T
    number = (np.cumsum(exists) - 1).reshape(exists.shape)
    start, end = bounds.T
    sentence = np.searchsorted(starts, start, side="right") - 1
    segmentation = number[sentence, rank] if len(bounds) else np.zeros(0, dtype=np.int64)
    order = np.argsort(segmentation, kind="stable")
    _, first, inverse = np.unique(_keys(start, end), return_index=True, return_inverse=True)
    n = int(exists.sum())
    return TypedLists(
        Lists(
            span_starts=_cuts(start[first], np.append(starts, doc_starts[-1])),
            starts=np.append(0, np.cumsum(exists.sum(axis=1))),
            member_starts=np.searchsorted(segmentation[order], np.arange(n + 1)),
            members=inverse.reshape(-1)[order].astype(np.int32),
            sequence_scores=scores.T[exists],
            class_scores=np.ascontiguousarray(class_scores[first], dtype=np.float64),
        ),
        start=start[first],
        end=end[first],
        doc_starts=doc_starts,
        doc_spans=_cuts(start[first], doc_starts),
        classes=classes,
    )


def _cuts(start: Pointers1d, boundaries: Pointers1d) -> Pointers1d:
    cuts: Pointers1d = np.searchsorted(start, boundaries)
    return cuts


def _keys(start: Pointers1d, end: Pointers1d) -> Pointers1d:
    """One number for each span, in the order of the text."""
    return (start << _SHIFT) | end


def _read_attributes(doc: Doc, key: str, where: str) -> list[dict[str, Any]]:
    """The attributes of the groups, as `RankedGroup` has them, best first."""
    groups = candidate_groups(doc, key)
    if not groups:
        raise ConfigError(
            f"{where} needs the N best segmentations in doc.spans['{key}/1'], '{key}/2' …, but "
            f"the Doc that begins '{doc.text[:50]}' has none. Put cascade_segmenter with "
            f"n_best = 2 or more and spans_key = '{key}' before it."
        )
    ranked: list[dict[str, Any]] = [group.attrs for group in groups]
    is_typed = all(attributes.get("class_scores") is not None for attributes in ranked)
    if not is_typed or ranked[0].get("earlier_iob") is None:
        raise ConfigError(
            f"{where} found segmentations in doc.spans['{key}/1'] that have no types. Put "
            f"cascade_classifier with spans_key = '{key}' between cascade_segmenter and it."
        )
    n_sentences = len(ranked[0]["sequence_starts"])
    for group, attributes in zip(groups, ranked, strict=True):
        size, n_scores = len(attributes[BOUNDS]), len(attributes["sequence_scores"])
        if not size_of(group) == size == len(attributes["class_scores"]) or n_scores != n_sentences:
            raise ConfigError(
                f"{where} found doc.spans['{group.name}'] changed since cascade_segmenter wrote "
                "it: its spans and its attributes differ in number. Leave these groups as they "
                "are, or put the component that changes them after the reranker."
            )
    return ranked


@dataclass(frozen=True)
class Chosen:
    """What was chosen for one Doc.

    spans: of the new `doc.spans[spans_key]`. probabilities: float64 `[P]`, of each, given the
    N-best list. is_typed: bool `[P]`, False for spans that are no entities.
    """

    spans: SpanKeys
    probabilities: Floats1d
    is_typed: Bools1d


def choose_spans(typed: TypedLists, lists: Lists, strings: StringStore) -> list[Chosen]:
    """The spans of highest total score in each sentence; lists: typed ones with final scores."""
    chosen = np.empty(len(lists.starts) - 1, dtype=np.int32)
    classes = np.empty(len(lists.class_scores), dtype=np.int32)
    probabilities = np.empty(len(lists.class_scores))
    choose(lists, chosen, classes)
    span_posteriors(lists, classes, probabilities)
    spans = typed.chosen_spans(chosen)
    names = [ENTITY if name == REJECTED else name for name in typed.classes]
    labels = np.array([strings.add(name) for name in names], dtype=np.uint64)
    is_class = np.array([name != REJECTED for name in typed.classes], dtype=np.bool_)
    cuts = np.searchsorted(spans, typed.doc_spans)
    offset = np.repeat(typed.doc_starts[:-1], np.diff(cuts))
    keys = SpanKeys(typed.start[spans] - offset, typed.end[spans] - offset, labels[classes[spans]])
    probability, is_typed = probabilities[spans], is_class[classes[spans]]
    return [
        Chosen(keys.take(slice(i, j)), probability[i:j], is_typed[i:j])
        for i, j in pairwise(cuts.tolist())
    ]


def write_chosen(docs: Sequence[Doc], key: str, chosen: Sequence[Chosen], set_ents: bool) -> None:
    """Write what was chosen to `doc.spans[key]`, and with `set_ents` to `doc.ents`.

    A Doc whose spans are what they were is left as the classifier has made it, if that has set its
    entities.
    """
    changed: list[_Changed] = []
    for doc, found in zip(docs, chosen, strict=True):
        group = doc.spans[key]
        before, earlier = table_of_group(group).keys, doc.spans[f"{key}/1"].attrs["earlier_iob"]
        if all(map(np.array_equal, before, found.spans)):
            has_own = not np.array_equal(np.asarray(doc.to_array(ENT_IOB)), earlier)
            if has_own or not set_ents:
                continue
        changed.append(_Changed(doc, found, group, before, earlier))
    if changed:
        _write_changed(key, changed, set_ents)


class _Changed(NamedTuple):
    """A Doc to write to, what was chosen for it, and what was there before.

    before: spans of the group. earlier: `ENT_IOB` of the tokens before the classifier set entities.
    """

    doc: Doc
    found: Chosen
    group: SpanGroup
    before: SpanKeys
    earlier: npt.NDArray[np.int8]


def _write_changed(key: str, changed: Sequence[_Changed], set_ents: bool) -> None:
    """Write the spans of each Doc, with `set_ents` also its entities."""
    docs, found = [each.doc for each in changed], [each.found for each in changed]
    doc_starts = np.cumsum([0, *map(len, docs)])
    spans = _in_batch([each.spans for each in found], doc_starts)
    before = _in_batch([each.before for each in changed], doc_starts)
    n_spans = [len(each.spans.start) for each in found]
    own = map(np.concatenate, zip(*(each.spans for each in found), strict=True))
    tables = new_tables(docs, n_spans, *own)
    is_typed = np.concatenate([each.is_typed for each in found])
    confidences = _confidences(changed, find_spans(spans, before), n_spans)
    records = _records(tables, confidences, is_typed & set_ents)
    if set_ents:
        earlier = np.concatenate([each.earlier for each in changed])
        typed = join_tables(tables)._replace(start=spans.start, end=spans.end).take(is_typed)
        is_added = _replace_entities(docs, doc_starts, before, typed, earlier)
        cuts = np.cumsum([0, *(np.count_nonzero(each.is_typed) for each in found)]).tolist()
        records = [
            only_added(record, is_added[i:j])
            for record, (i, j) in zip(records, pairwise(cuts), strict=True)
        ]
    for each, table, sure, record in zip(changed, tables, confidences, records, strict=True):
        write_group(each.doc, key, table, sure, each.group.attrs, record)


def _in_batch(keys: Sequence[SpanKeys], doc_starts: Pointers1d) -> SpanKeys:
    """The spans of Docs one after the other, counted through all Docs."""
    start, end, label = map(np.concatenate, zip(*keys, strict=True))
    offset = np.repeat(doc_starts[:-1], [len(each.start) for each in keys])
    return SpanKeys(start + offset, end + offset, label)


def _confidences(
    changed: Sequence[_Changed], place: Pointers1d, n_spans: Sequence[int]
) -> list[Floats1d | None]:
    """Of each chosen span: as before where it was found before, else its probability.

    place: where all of them stand among those before, -1 for new ones. None for a Doc whose spans
    had none before.
    """
    scores = [scores_of(each.group) for each in changed]
    given = [
        np.full(len(each.before.start), np.nan) if of_doc is None else of_doc
        for each, of_doc in zip(changed, scores, strict=True)
    ]
    earlier = np.append(np.concatenate(given), np.nan)[place]
    probabilities = np.concatenate([each.found.probabilities for each in changed])
    sure = np.where(np.isnan(earlier), probabilities, earlier)
    cuts = np.cumsum([0, *n_spans]).tolist()
    return [
        None if each.group.attrs.get(CONFIDENCE_ATTRIBUTE) is None else sure[i:j]
        for each, (i, j) in zip(changed, pairwise(cuts), strict=True)
    ]


def _records(
    tables: Sequence[SpanTable], confidences: Sequence[Floats1d | None], is_entity: Bools1d
) -> list[bytes]:
    """As `records_of`, where some Docs have confidences."""
    cuts = np.cumsum([0, *(table.n_spans for table in tables)]).tolist()
    if all(of_doc is not None for of_doc in confidences):
        return records_of(tables, confidences, is_entity)
    return [
        records_of([table], [of_doc], is_entity[i:j])[0]
        for table, of_doc, (i, j) in zip(tables, confidences, pairwise(cuts), strict=True)
    ]


def _replace_entities(
    docs: Sequence[Doc], doc_starts: Pointers1d, replaced: SpanKeys, typed: SpanTable,
    before: npt.NDArray[np.int8],
) -> Bools1d:  # fmt: skip
    """Make `doc.ents` have the typed spans instead of the replaced ones that are among them.

    Spans and tokens are counted through all Docs. before: `ENT_IOB` of all tokens `[T]`, before any
    of these was set. Entities that were there then stay, and tokens that leave an entity are
    outside. Returns which typed spans were added, bool `[P]`.
    """
    has_ids = any(doc.has_annotation(name) for doc in docs for name in ENTITY_ATTRIBUTES[2:])
    read = ENTITY_ATTRIBUTES if has_ids else ENTITY_ATTRIBUTES[:2]  # each takes as long as the rest
    of_tokens = np.zeros((doc_starts[-1], len(ENTITY_ATTRIBUTES)), dtype=np.uint64)
    of_tokens[:, : len(read)] = np.concatenate([doc.to_array(read) for doc in docs])
    start, end = entity_bounds(of_tokens[:, 0], of_tokens[:, 1], doc_starts)
    entities = SpanKeys(start, end, of_tokens[start, 1])
    gives_way = (find_spans(entities, replaced) >= 0) & ~taken_tokens(before)[start]
    entities = entities.take(gives_way)
    removed = entities.take(find_spans(entities, typed.keys) < 0)
    of_tokens[tokens_of(removed.start, removed.end)] = 0
    is_added = find_spans(typed.keys, entities) < 0
    of_new = add_spans(of_tokens, typed.take(is_added))
    if of_new is not None:
        is_added[is_added] = of_new
    for doc, (i, j) in zip(docs, pairwise(doc_starts.tolist()), strict=True):
        doc.from_array(read, of_tokens[i:j, : len(read)])  # type: ignore[arg-type]
    return is_added
