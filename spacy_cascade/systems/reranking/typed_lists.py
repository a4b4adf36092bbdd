"""Typed N-best lists of a batch of Docs as arrays; what is chosen among them, and its writing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

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
from ...pipeline.spans.nbest import RankedGroup, candidate_groups
from ...pipeline.spans.placing import ENTITY, REJECTED
from ...pipeline.spans.tables import SpanKeys, SpanTable, find_spans, new_table
from ...types import Bools1d, Floats1d, Floats2d, Ints1d, Keys1d, Pointers1d, Pointers2d
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

    where: who reads them, for messages. Raises `ConfigError` where one is missing or damaged.
    """
    starts: list[int] = []
    scores: list[list[float]] = []  # by rank, of all sentences so far
    bounds: list[Pointers2d] = [np.zeros((0, 3), dtype=np.int64)]
    class_scores: list[Floats2d] = []
    classes: list[str] = []
    doc_starts = np.append(0, np.cumsum([len(doc) for doc in docs], dtype=np.int64))
    for doc, offset in zip(docs, doc_starts.tolist(), strict=False):
        groups = _read_groups(doc, key, where)
        assert groups[0].classes is not None
        classes = groups[0].classes
        n_before, n = len(starts), len(groups[0].sequence_starts)
        starts.extend(start + offset for start in groups[0].sequence_starts)
        for rank, group in enumerate(groups):
            if rank == len(scores):
                scores.append([-np.inf] * n_before)
            scores[rank].extend(group.sequence_scores)
            ranks = np.full((len(group.bounds), 1), rank)
            bounds.append(np.concatenate([group.bounds + offset, ranks], axis=1))
            assert group.class_scores is not None
            class_scores.append(group.class_scores)
        for further in scores[len(groups) :]:
            further.extend([-np.inf] * n)
    columns = np.argsort(classes) if classes else np.zeros(0, dtype=np.int64)
    values = np.concatenate(class_scores)[:, columns] if docs else np.zeros((0, 0))
    return _arrange(
        np.array(starts, dtype=np.int64),
        np.array(scores, dtype=np.float64).reshape(len(scores), len(starts)),
        np.concatenate(bounds),
        values,
        doc_starts,
        tuple(sorted(classes)),
    )


def _arrange(
    starts: Pointers1d,
    scores: Floats2d,
    bounds: Pointers1d,
    class_scores: Floats2d,
    doc_starts: Pointers1d,
    classes: tuple[str, ...],
) -> TypedLists:
    """Spans and segmentations in the order of sentences; scores `[N, S]`, bounds `[M, 3]`."""
    exists = -np.inf < scores.T
    number = (np.cumsum(exists) - 1).reshape(exists.shape)
    start, end, rank = bounds.T
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


def _read_groups(doc: Doc, key: str, where: str) -> list[RankedGroup]:
    groups = [(group, RankedGroup.of(group)) for group in candidate_groups(doc, key)]
    if not groups:
        raise ConfigError(
            f"{where} needs the N best segmentations in doc.spans['{key}/1'], '{key}/2' …, but "
            f"the Doc that begins '{doc.text[:50]}' has none. Put cascade_segmenter with "
            f"n_best = 2 or more and spans_key = '{key}' before it."
        )
    is_typed = all(ranked.class_scores is not None for _, ranked in groups)
    if not is_typed or groups[0][1].earlier_iob is None:
        raise ConfigError(
            f"{where} found segmentations in doc.spans['{key}/1'] that have no types. Put "
            f"cascade_classifier with spans_key = '{key}' between cascade_segmenter and it."
        )
    n_sentences = len(groups[0][1].sequence_starts)
    for group, ranked in groups:
        _check_unchanged(group, ranked, n_sentences, where)
    return [ranked for _, ranked in groups]


def _check_unchanged(group: SpanGroup, ranked: RankedGroup, n_sentences: int, where: str) -> None:
    scores = () if ranked.class_scores is None else ranked.class_scores
    n_spans = {size_of(group), len(ranked.bounds), len(scores)}
    if len(n_spans) > 1 or len(ranked.sequence_scores) != n_sentences:
        raise ConfigError(
            f"{where} found doc.spans['{group.name}'] changed since cascade_segmenter wrote "
            "it: its spans and its attributes differ in number. Leave these groups as they "
            "are, or put the component that changes them after the reranker."
        )


@dataclass(frozen=True)
class Chosen:
    """What was chosen for one Doc.

    spans: of the new `doc.spans[spans_key]`. probabilities: float64 `[P]`, of each, given the
    N-best list. is_typed: bool `[P]`, False for spans that are no entities.
    """

    spans: SpanKeys
    probabilities: Floats1d
    is_typed: Bools1d

    def confidences(self, before: SpanGroup) -> Floats1d | None:
        """Of each span: as before where it was found before, else its probability.

        None where those before have none.
        """
        if before.attrs.get(CONFIDENCE_ATTRIBUTE) is None:
            return None
        confidences: Floats1d = self.probabilities.copy()
        scores = scores_of(before)
        if scores is not None:
            place = find_spans(self.spans, table_of_group(before).keys)
            earlier = np.append(scores, np.nan)[place]  # -1 where it was not there
            known = ~np.isnan(earlier)
            confidences[known] = earlier[known]
        return confidences


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
    for doc, found in zip(docs, chosen, strict=True):
        group = doc.spans[key]
        before = table_of_group(group).keys
        is_same = all(map(np.array_equal, before, found.spans))
        earlier = candidate_groups(doc, key)[0].attrs["earlier_iob"]
        writes_entities = set_ents and not (is_same and _has_changed(doc, earlier))
        if is_same and not writes_entities:
            continue
        spans = new_table(doc, *found.spans)
        confidences = found.confidences(group)
        (record,) = records_of([spans], [confidences], found.is_typed & writes_entities)
        if writes_entities:
            typed = spans.take(found.is_typed)
            record = only_added(record, _replace_entities(doc, before, typed, earlier))
        write_group(doc, key, spans, confidences, group.attrs, record)


def _has_changed(doc: Doc, earlier: npt.NDArray[np.int8]) -> bool:
    """Whether a component has set entities since the tokens had these values of `ENT_IOB`."""
    return not np.array_equal(np.asarray(doc.to_array(ENT_IOB)), earlier)


def _replace_entities(
    doc: Doc, replaced: SpanKeys, typed: SpanTable, before: Keys1d | npt.NDArray[np.int8]
) -> Bools1d:
    """Make `doc.ents` have the typed spans instead of the replaced ones that are among them.

    before: `ENT_IOB` of all tokens `[T]`, before any of these was set. Entities that were there
    then stay, and tokens that leave an entity are outside. Returns which typed spans were added,
    bool `[P]`.
    """
    of_tokens = np.asarray(doc.to_array(ENTITY_ATTRIBUTES), dtype=np.uint64)
    start, end = entity_bounds(of_tokens[:, 0], of_tokens[:, 1], np.array([len(doc)]))
    entities = SpanKeys(start, end, of_tokens[start, 1])
    gives_way = (find_spans(entities, replaced) >= 0) & ~taken_tokens(before)[start]
    entities = entities.take(gives_way)
    removed = entities.take(find_spans(entities, typed.keys) < 0)
    of_tokens[tokens_of(removed.start, removed.end)] = 0
    is_added = find_spans(typed.keys, entities) < 0
    of_new = add_spans(of_tokens, typed.take(is_added))
    if of_new is not None:
        is_added[is_added] = of_new
    doc.from_array(ENTITY_ATTRIBUTES, of_tokens)  # type: ignore[arg-type]
    return is_added
