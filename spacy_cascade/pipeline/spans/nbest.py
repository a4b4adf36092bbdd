"""The N best segmentations of each sentence: found, written to a Doc, and read again.

The k-th best segmentation of every sentence of a Doc stands in `doc.spans["<key>/k"]`,
`k = 1 … N`, with what belongs to it in the group's `attrs` (the constants below).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup

from ...errors import ConfigError
from ...features.tokens import Tokens
from ...inference.chain import log_partitions
from ...inference.k_best import best_paths
from ...inference.lattice import Lattice
from ...inference.schemes import UNOBSERVED, Spans, TagSet
from ...types import Floats1d, Floats2d, Ints2d

SEQUENCE_STARTS = "sequence_starts"
"""Number of the first token of each sentence."""
SEQUENCE_SCORES = "sequence_scores"
"""Score of the segmentation of each sentence; `-inf` where a sentence has fewer than k."""
IS_LOG_PROBABILITY = "is_log_probability"
"""Whether sequence scores are log-probabilities, rather than plain scores of paths."""
BOUNDS = "bounds"
"""Start and end (exclusive) of each span, int64 `[P, 2]`: quicker read than the spans."""
CLASSES = "classes"
"""Names of the classes: the types, and `REJECTED` where the classifier rejects spans."""
CLASS_SCORES = "class_scores"
"""Scores of all classes of each span, float64 `[P, C]`: log-probabilities, or plain scores where
the classifier's objective is not probabilistic."""
EARLIER_IOB = "earlier_iob"
"""`token.ent_iob` before the classifier set entities, int8 `[T]`; only the first group has it."""
REJECTED = "O"
"""Name of the class of spans that are no entities."""

MOST = 100
"""The largest N."""


@dataclass(frozen=True)
class Segmentation:
    """One way to segment a sentence.

    spans: in ascending order. score: of the path. probability: under the model, None where
    its objective is not probabilistic.
    """

    spans: list[Span]
    score: float
    probability: float | None


@dataclass(frozen=True)
class Candidates:
    """The N best segmentations of the sentences of one Doc.

    starts: first token of each sentence. spans: those of all sentences, for each rank.
    scores: float64 `[N, S]`, plain scores of paths, `-inf` where there is none.
    log_probabilities: float64 `[N, S]`, None where the objective is not probabilistic.
    """

    starts: list[int]
    spans: list[Spans]
    scores: Floats2d
    log_probabilities: Floats2d | None


def check_n(n: int, where: str) -> None:
    """Raise `ConfigError` for a number of segmentations out of range."""
    if not 1 <= n <= MOST:
        raise ConfigError(f"{where} asks for the {n} best segmentations: take from 1 to {MOST}.")


def is_probabilistic(objective: object) -> bool:
    """Whether scores learnt under the objective are log-probabilities up to a constant."""
    return hasattr(objective, "sigma")


def best_segmentations(
    lattice: Lattice, scores: Floats2d, transitions: Floats1d, tokens: Tokens, n: int
) -> tuple[Ints2d, Floats2d]:
    """Tags `[N, T]` and scores `[N, S]` of the N best; outside and `-inf` where there is none."""
    n_sequences = len(tokens.sequence_starts) - 1
    paths = np.zeros((n, len(scores)), dtype=np.int32)
    by_sequence = np.empty((n_sequences, n))
    n_paths = np.empty(n_sequences, dtype=np.int32)
    best_paths(lattice, scores, transitions, tokens.sequence_starts, paths, by_sequence, n_paths)
    path_scores = by_sequence.T.copy()
    path_scores[np.arange(n)[:, None] >= n_paths] = -np.inf
    return paths, path_scores


def normalizers(
    lattice: Lattice, scores: Floats2d, transitions: Floats1d, tokens: Tokens
) -> Floats1d:
    """Log-partition of each sequence, float64 `[S]`."""
    values = np.empty(len(tokens.sequence_starts) - 1)
    open_tags = np.full(len(scores), UNOBSERVED, dtype=np.int32)
    no_cost = np.zeros((lattice.n_labels + 1, lattice.n_labels))
    log_partitions(lattice, scores, transitions, no_cost, open_tags, tokens.sequence_starts, values)
    return values


def candidates_by_doc(
    paths: Ints2d, scores: Floats2d, partitions: Floats1d | None, tag_set: TagSet, tokens: Tokens
) -> list[Candidates]:
    """What was found in a batch, for each Doc; partitions: None for no probabilities."""
    starts = tokens.sequence_starts
    ranked = [tag_set.spans(path, starts) for path in paths]
    cuts = [np.searchsorted(spans.start, tokens.doc_starts) for spans in ranked]
    sequence_cuts = np.searchsorted(starts[:-1], tokens.doc_starts)
    probabilities = None if partitions is None else scores - partitions
    found = []
    for doc, offset in enumerate(tokens.doc_starts[:-1]):
        own = slice(sequence_cuts[doc], sequence_cuts[doc + 1])
        found.append(
            Candidates(
                (starts[:-1][own] - offset).tolist(),
                [
                    part_of(spans, slice(cut[doc], cut[doc + 1]), offset)
                    for spans, cut in zip(ranked, cuts, strict=True)
                ],
                scores[:, own],
                None if probabilities is None else probabilities[:, own],
            )
        )
    return found


def part_of(spans: Spans, part: slice, offset: int) -> Spans:
    """Some of the spans, counted from the token `offset`."""
    return Spans(spans.start[part] - offset, spans.end[part] - offset, spans.label[part])


def make_spans(doc: Doc, found: Spans, labels: Sequence[int]) -> list[Span]:
    """Spans of a Doc; labels: hashes of the labels by number."""
    bounds = zip(*(part.tolist() for part in found), strict=True)
    return [Span(doc, start, end, labels[label]) for start, end, label in bounds]


def segmentations(
    doc: Doc, candidates: Candidates, labels: Sequence[int]
) -> list[list[Segmentation]]:
    """The candidates of each sentence, best first."""
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
    probabilities = candidates.log_probabilities
    made: dict[tuple[int, int, int], Span] = {}  # most spans are in most segmentations
    scores = (candidates.scores if probabilities is None else probabilities).tolist()
    for k, (found, sequence_scores) in enumerate(zip(candidates.spans, scores, strict=True), 1):
        spans = []
        for bounds in zip(*(part.tolist() for part in found), strict=True):
            span = made.get(bounds)
            if span is None:
                start, end, label = bounds
                span = made[bounds] = Span(doc, start, end, labels[label])
            spans.append(span)
        attrs = {
            SEQUENCE_STARTS: list(candidates.starts),
            SEQUENCE_SCORES: sequence_scores,
            IS_LOG_PROBABILITY: probabilities is not None,
            BOUNDS: np.stack([found.start, found.end], axis=1),
        }
        name = f"{key}/{k}"
        doc.spans[name] = SpanGroup(doc, name=name, attrs=attrs, spans=spans)


def candidate_groups(doc: Doc, key: str) -> Iterator[SpanGroup]:
    """The groups `<key>/1`, `<key>/2` … of a Doc that a segmenter wrote, as far as they go."""
    k = 1
    while (group := doc.spans.get(f"{key}/{k}")) is not None and BOUNDS in group.attrs:
        yield group
        k += 1


def drop_candidates(doc: Doc, key: str) -> None:
    """Take the groups `<key>/k` off a Doc."""
    for group in list(candidate_groups(doc, key)):
        del doc.spans[group.name]
