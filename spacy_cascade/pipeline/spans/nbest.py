"""The N best segmentations of each sentence: written to a Doc, typed, and read again.

The k-th best segmentation of every sentence of a Doc stands in `doc.spans["<key>/k"]`,
`k = 1 … N`. What belongs to it stands in the group's `attrs`; `RankedGroup` says what that is, and
nothing else reads or writes these attributes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from spacy.attrs import ENT_IOB
from spacy.tokens import Doc, Span, SpanGroup

from ...errors import ConfigError
from ...features.tokens import Tokens
from ...inference.schemes import Spans
from ...types import Floats2d, Ints1d, Pointers1d, Pointers2d
from .groups import LastingGroup, table_of_group
from .placing import make_spans, part_of
from .tables import new_table, split_table

MOST = 100
"""The largest N."""
KEPT = -1
"""Type number of a span that keeps the label it has: rejected, or not to be typed."""
_SHIFT = 32
_END = (1 << _SHIFT) - 1


@dataclass(frozen=True)
class RankedGroup:
    """The attributes of one group, by their names.

    sequence_starts: number of the first token of each sentence. sequence_scores: score of the
    segmentation of each sentence; `-inf` where a sentence has fewer than k. is_log_probability:
    whether these are log-probabilities, rather than plain scores. bounds: start and end
    (exclusive) of each span, int64 `[P, 2]`, which are read faster than the spans.

    The classifier adds: classes, names of the types, and `REJECTED` where it rejects spans;
    class_scores, of all classes of each span, float64 `[P, C]`: log-probabilities, or plain scores
    where the classifier's loss is not probabilistic; earlier_iob, `token.ent_iob` before the
    classifier set entities, int8 `[T]`, in the first group only.
    """

    sequence_starts: list[int]
    sequence_scores: list[float]
    is_log_probability: bool
    bounds: Pointers2d
    classes: list[str] | None = None
    class_scores: Floats2d | None = None
    earlier_iob: npt.NDArray[np.int8] | None = None

    @classmethod
    def of(cls, group: SpanGroup) -> RankedGroup | None:
        """Those of a group; None where it is no such group."""
        found = {name: group.attrs[name] for name in _NAMES if name in group.attrs}
        return cls(**found) if "bounds" in found else None

    @property
    def attrs(self) -> dict[str, Any]:
        """As the group has them."""
        values = {name: getattr(self, name) for name in _NAMES}
        return {name: value for name, value in values.items() if value is not None}


_NAMES = tuple(field.name for field in fields(RankedGroup))


@dataclass(frozen=True)
class Segmentation:
    """One way to segment a sentence.

    spans: in ascending order. score: of the labelling. probability: at the temperature of the
    component, None where its loss is not probabilistic.
    """

    spans: list[Span]
    score: float
    probability: float | None


@dataclass(frozen=True)
class Candidates:
    """The N best segmentations of the sentences of one Doc.

    starts: first token of each sentence. spans: those of all sentences, for each rank.
    scores: float64 `[N, S]`, `-inf` where there is none. log_probabilities: float64 `[N, S]`, None
    where the loss is not probabilistic.
    """

    starts: list[int]
    spans: list[Spans]
    scores: Floats2d
    log_probabilities: Floats2d | None


def check_n(n: int, where: str) -> None:
    """Raise `ConfigError` for a number of segmentations out of range."""
    if not 1 <= n <= MOST:
        raise ConfigError(f"{where} asks for the {n} best segmentations: take from 1 to {MOST}.")


@dataclass(frozen=True)
class Ranked:
    """The N best segmentations of sequences.

    spans: those of all sequences, for each rank. scores, log_probabilities: as of `Candidates`.
    """

    spans: list[Spans]
    scores: Floats2d
    log_probabilities: Floats2d | None


def candidates_by_doc(found: Ranked, tokens: Tokens) -> list[Candidates]:
    """What was found in a batch, for each Doc."""
    starts = tokens.sequence_starts
    cuts = [np.searchsorted(spans.start, tokens.doc_starts) for spans in found.spans]
    sequence_cuts = np.searchsorted(starts[:-1], tokens.doc_starts)
    probabilities = found.log_probabilities
    by_doc = []
    for doc, offset in enumerate(tokens.doc_starts[:-1]):
        own = slice(sequence_cuts[doc], sequence_cuts[doc + 1])
        spans = [
            part_of(spans, slice(cut[doc], cut[doc + 1]), offset)
            for spans, cut in zip(found.spans, cuts, strict=True)
        ]
        log_probabilities = None if probabilities is None else probabilities[:, own]
        of_sentences = (starts[:-1][own] - offset).tolist()
        by_doc.append(Candidates(of_sentences, spans, found.scores[:, own], log_probabilities))
    return by_doc


def segmentations(
    doc: Doc, candidates: Candidates, labels: Sequence[int]
) -> list[list[Segmentation]]:
    """The candidates of each sentence, best first; labels: hashes by number."""
    boundaries = [*candidates.starts, len(doc)]
    spans = [make_spans(doc, found, labels) for found in candidates.spans]
    cuts = [np.searchsorted(found.start, boundaries) for found in candidates.spans]
    result = []
    for i in range(len(candidates.starts)):
        ranked = []
        for k, score in enumerate(candidates.scores[:, i].tolist()):
            if score == -np.inf:
                break
            inside = spans[k][cuts[k][i] : cuts[k][i + 1]]
            of_all = candidates.log_probabilities
            probability = None if of_all is None else min(1.0, float(np.exp(of_all[k, i])))
            ranked.append(Segmentation(inside, score, probability))
        result.append(ranked)
    return result


def write_candidates(doc: Doc, key: str, candidates: Candidates, labels: Sequence[int]) -> None:
    """Write `doc.spans["<key>/k"]`, and nothing else."""
    drop_candidates(doc, key)
    probabilities, hashes = candidates.log_probabilities, np.array(labels, dtype=np.uint64)
    scores = (candidates.scores if probabilities is None else probabilities).tolist()
    n_spans = [len(found.start) for found in candidates.spans]
    joined = Spans(*map(np.concatenate, zip(*candidates.spans, strict=True)))
    of_all = new_table(doc, joined.start, joined.end, hashes[joined.label])
    tables = split_table(of_all, n_spans)
    for k, (table, sequence_scores) in enumerate(zip(tables, scores, strict=True), 1):
        ranked = RankedGroup(
            list(candidates.starts), sequence_scores, probabilities is not None, table.bounds
        )
        name = f"{key}/{k}"
        doc.spans[name] = LastingGroup(doc, name=name, table=table, attrs=ranked.attrs)


def candidate_groups(doc: Doc, key: str) -> Iterator[tuple[SpanGroup, RankedGroup]]:
    """The groups `<key>/1`, `<key>/2` … of a Doc that a segmenter wrote, as far as they go."""
    k = 1
    while (group := doc.spans.get(f"{key}/{k}")) is not None:
        ranked = RankedGroup.of(group)
        if ranked is None:
            return
        yield group, ranked
        k += 1


def drop_candidates(doc: Doc, key: str) -> None:
    """Take the groups `<key>/k` off a Doc."""
    if f"{key}/1" not in doc.spans:
        return
    for group, _ in list(candidate_groups(doc, key)):
        del doc.spans[group.name]


@dataclass(frozen=True)
class DistinctSpans:
    """The spans of a Doc's N-best list, each once.

    groups: best first. bounds: int64 `[U, 2]`. rows: for each group the numbers of its spans.
    """

    groups: list[tuple[SpanGroup, RankedGroup]]
    bounds: Pointers2d
    rows: list[Pointers1d]


@dataclass(frozen=True)
class TypedCandidates:
    """An N-best list with the scores `[U, C]` and type numbers `[U]` of its distinct spans."""

    distinct: DistinctSpans
    scores: Floats2d
    types: Ints1d


def distinct_spans(doc: Doc, key: str | None) -> DistinctSpans:
    """The spans of the N-best list under the key; none where there is no list."""
    groups = [] if key is None else list(candidate_groups(doc, key))
    if not groups:
        return DistinctSpans([], np.zeros((0, 2), dtype=np.int64), [])
    keys = [(r.bounds[:, 0] << _SHIFT) | r.bounds[:, 1] for _, r in groups]
    distinct = np.unique(np.concatenate(keys))
    bounds = np.stack([distinct >> _SHIFT, distinct & _END], axis=1)
    return DistinctSpans(groups, bounds, [np.searchsorted(distinct, k) for k in keys])


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
    earlier = np.asarray(doc.to_array(ENT_IOB)).astype(np.int8)
    for rank, ((group, ranked), rows) in enumerate(
        zip(distinct.groups, distinct.rows, strict=True)
    ):
        scored = replace(
            ranked,
            classes=classes,
            class_scores=typed.scores[rows],
            earlier_iob=None if rank else earlier,
        )
        attrs = {**group.attrs, **scored.attrs}
        table = table_of_group(group)
        table = table.with_labels(np.where(is_typed[rows], label[rows], table.label))
        doc.spans[group.name] = LastingGroup(doc, name=group.name, table=table, attrs=attrs)
