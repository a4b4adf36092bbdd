"""The N best segmentations of each sentence: written to a Doc, typed, and read again.

The k-th best segmentation of every sentence of a Doc stands in `doc.spans["<key>/k"]`,
`k = 1 … N`. What belongs to it stands in the group's `attrs`; `RankedGroup` says what that is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Annotated, TypeAlias

import numpy as np
import numpy.typing as npt
from pydantic import Field
from spacy.tokens import Doc, Span, SpanGroup

from ...errors import ConfigError
from ...features.tokens import Tokens
from ...inference.schemes import Spans
from ...types import Floats2d, Pointers2d
from .groups import LastingGroup
from .placing import make_spans, part_of
from .tables import new_tables

MOST = 100
"""The largest N."""
Count: TypeAlias = Annotated[int, Field(ge=1, le=MOST)]
BOUNDS = "bounds"
"""The attribute that every group of a list has."""


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
    def of(cls, group: SpanGroup) -> RankedGroup:
        """Those of a group of `candidate_groups`."""
        return cls(**{name: group.attrs[name] for name in _NAMES if name in group.attrs})


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

    starts: first token of each sentence. joined: the spans of all sentences, those of the best
    segmentations first. n_spans: how many of them each rank has. scores: float64 `[N, S]`, `-inf`
    where there is none. log_probabilities: float64 `[N, S]`, None where the loss is not
    probabilistic.
    """

    starts: list[int]
    joined: Spans
    n_spans: list[int]
    scores: Floats2d
    log_probabilities: Floats2d | None

    @property
    def spans(self) -> list[Spans]:
        """Those of each rank."""
        cuts = np.cumsum([0, *self.n_spans]).tolist()
        return [part_of(self.joined, slice(i, j), 0) for i, j in pairwise(cuts)]


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
    starts, doc_starts, n = tokens.sequence_starts, tokens.doc_starts, len(found.spans)
    start, end, label = map(np.concatenate, zip(*found.spans, strict=True))
    doc = np.searchsorted(doc_starts, start, side="right") - 1
    group = doc * n + np.repeat(np.arange(n), [len(spans.start) for spans in found.spans])
    order = np.argsort(group, kind="stable")
    offset = doc_starts[doc]
    ranked = Spans((start - offset)[order], (end - offset)[order], label[order])
    sizes = np.bincount(group, minlength=n * (len(doc_starts) - 1)).reshape(-1, n)
    cuts = np.append(0, np.cumsum(sizes.sum(axis=1))).tolist()
    sequence_cuts = np.searchsorted(starts[:-1], doc_starts).tolist()
    probabilities, n_spans = found.log_probabilities, sizes.tolist()
    by_doc = []
    for d, first in enumerate(doc_starts[:-1]):
        own = slice(sequence_cuts[d], sequence_cuts[d + 1])
        log_probabilities = None if probabilities is None else probabilities[:, own]
        joined = ranked.take(slice(cuts[d], cuts[d + 1]))
        of_sentences = (starts[own] - first).tolist()
        scores = found.scores[:, own]
        by_doc.append(Candidates(of_sentences, joined, n_spans[d], scores, log_probabilities))
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


def write_candidates(
    docs: Sequence[Doc], key: str, found: Sequence[Candidates], labels: Sequence[int],
    characters: Pointers2d,
) -> None:  # fmt: skip
    """Write `doc.spans["<key>/k"]` of each Doc, and nothing else. characters: for `new_tables`."""
    start, end, label = map(np.concatenate, zip(*(each.joined for each in found), strict=True))
    hashes = np.array(labels, dtype=np.uint64)[label]
    n_spans = [len(each.joined.start) for each in found]
    tables = new_tables(docs, n_spans, start, end, hashes, characters)
    for doc, each, table in zip(docs, found, tables, strict=True):
        probabilities, bounds = each.log_probabilities, table.bounds
        scores = (each.scores if probabilities is None else probabilities).tolist()
        begin = 0
        for k, (size, of_sequences) in enumerate(zip(each.n_spans, scores, strict=True), 1):
            own = slice(begin, begin + size)
            begin = own.stop
            attrs = {
                "sequence_starts": list(each.starts),
                "sequence_scores": of_sequences,
                "is_log_probability": probabilities is not None,
                BOUNDS: bounds[own],
            }
            name = f"{key}/{k}"
            doc.spans[name] = LastingGroup(doc, name=name, table=table, attrs=attrs, part=own)


def candidate_groups(doc: Doc, key: str) -> list[SpanGroup]:
    """The groups `<key>/1`, `<key>/2` … of a Doc that a segmenter wrote, as far as they go."""
    groups: list[SpanGroup] = []
    spans = doc.spans.data
    while True:
        group = spans.get(f"{key}/{len(groups) + 1}")
        if group is None or BOUNDS not in group.attrs:
            return groups
        groups.append(group)


def drop_candidates(doc: Doc, key: str) -> None:
    """Take the groups `<key>/k` off a Doc."""
    for group in candidate_groups(doc, key):
        del doc.spans[group.name]
