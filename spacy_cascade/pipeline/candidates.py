"""The typed N-best list of a Doc as arrays, read from its span groups and checked."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from spacy.tokens import Doc, Span, SpanGroup

from ..errors import ConfigError
from ..types import Bools1d, Floats1d, Floats2d, Floats3d, Ints1d
from .annotation import GoldSpans
from .hypotheses import FEATURES, Elsewhere, Hypothesis, feature_values
from .nbest import (
    IS_LOG_PROBABILITY,
    IS_TYPED,
    SEQUENCE_SCORES,
    SEQUENCE_STARTS,
    TYPE_PROBABILITIES,
    TYPE_SCORES,
    candidate_groups,
    sequence_numbers,
)


@dataclass(frozen=True)
class Ranked:
    """The k-th best segmentation of all sentences of a Doc, typed.

    spans: in ascending order. sequences: int32 `[P]`, the sentence of each. type_scores,
    type_probabilities: `[P]`. is_typed: bool `[P]`, False for rejected spans. sequence_scores:
    `[S]`.
    """

    spans: list[Span]
    sequences: Ints1d
    type_scores: Floats1d
    type_probabilities: Floats1d
    is_typed: Bools1d
    sequence_scores: Floats1d


@dataclass(frozen=True)
class TypedList:
    """The typed N-best list of a Doc of `S` sentences.

    starts: first token of each sentence. ranked: best first. is_log_probability: whether
    sequence scores are.
    """

    starts: list[int]
    ranked: list[Ranked]
    is_log_probability: bool

    @property
    def sequence_scores(self) -> Floats2d:
        """Of each segmentation, float64 `[N, S]`; `-inf` where there is none."""
        return np.array([r.sequence_scores for r in self.ranked]).reshape(
            len(self.ranked), len(self.starts)
        )

    @property
    def type_scores(self) -> Floats2d:
        """Sum over the spans of each segmentation, float64 `[N, S]`."""
        return self.sums([r.type_scores for r in self.ranked])

    def totals(self, weight: float) -> Floats2d:
        """Sequence scores plus weighted sums of type scores, float64 `[N, S]`."""
        totals: Floats2d = self.sequence_scores + weight * self.type_scores
        return totals

    def sums(self, of_spans: list[npt.NDArray[np.float64]]) -> Floats2d:
        """Sums over the spans of each segmentation, float64 `[N, S]`, of values of each rank."""
        n = len(self.starts)
        return np.array(
            [
                np.bincount(r.sequences, weights=values, minlength=n)
                for r, values in zip(self.ranked, of_spans, strict=True)
            ]
        ).reshape(len(self.ranked), n)

    def span_masses(self) -> dict[tuple[int, int], float]:
        """Probability of each span: the sum over the segmentations that contain it.

        Where the model is not probabilistic, by a softmax over the N best.
        """
        scores = self.sequence_scores
        if not self.is_log_probability:
            scores = scores - np.logaddexp.reduce(scores, axis=0)
        masses: dict[tuple[int, int], float] = defaultdict(float)
        for probabilities, ranked in zip(np.exp(scores), self.ranked, strict=True):
            of_spans = probabilities[ranked.sequences].tolist()
            for span, probability in zip(ranked.spans, of_spans, strict=True):
                masses[span.start, span.end] += probability
        return masses


def read_typed_list(doc: Doc, key: str, where: str) -> TypedList:
    """The N-best list under the key, typed by the classifier.

    where: who reads it, for messages. Raises `ConfigError` where it is missing or damaged.
    """
    groups = list(candidate_groups(doc, key))
    if not groups:
        raise ConfigError(
            f"{where} needs the N best segmentations in doc.spans['{key}/1'], '{key}/2' …, but "
            f"the Doc that begins '{doc.text[:50]}' has none. Put cascade_segmenter with "
            f"n_best = 2 or more and spans_key = '{key}' before it."
        )
    written = {TYPE_SCORES, TYPE_PROBABILITIES, IS_TYPED}
    if any(not written <= group.attrs.keys() for group in groups):
        raise ConfigError(
            f"{where} found segmentations in doc.spans['{key}/1'] that have no types. Put "
            f"cascade_classifier with spans_key = '{key}' between cascade_segmenter and it."
        )
    starts = list(groups[0].attrs[SEQUENCE_STARTS])
    ranked = [_read_group(group, starts, where) for group in groups]
    return TypedList(starts, ranked, bool(groups[0].attrs[IS_LOG_PROBABILITY]))


def _read_group(group: SpanGroup, starts: list[int], where: str) -> Ranked:
    spans = list(group)
    attrs = group.attrs
    n_spans = {len(attrs[name]) for name in (TYPE_SCORES, TYPE_PROBABILITIES, IS_TYPED)}
    n_spans.add(len(spans))
    if len(n_spans) > 1 or len(attrs[SEQUENCE_SCORES]) != len(starts):
        raise ConfigError(
            f"{where} found doc.spans['{group.name}'] changed since cascade_segmenter wrote it: "
            "its spans and its attributes differ in number. Leave these groups as they are, or "
            "put the component that changes them after the reranker."
        )
    return Ranked(
        spans,
        sequence_numbers(starts, spans),
        np.array(attrs[TYPE_SCORES], dtype=np.float64),
        np.array(attrs[TYPE_PROBABILITIES], dtype=np.float64),
        np.array(attrs[IS_TYPED], dtype=np.bool_),
        np.array(attrs[SEQUENCE_SCORES], dtype=np.float64),
    )


def count_outcomes(candidates: TypedList, gold: GoldSpans) -> tuple[Floats2d, Floats2d]:
    """Number of right entities and of all entities of each hypothesis, float64 `[N, S]` each.

    Entities where the reference has no annotation count as neither.
    """
    wanted = set(gold.spans)
    right, found = [], []
    for ranked in candidates.ranked:
        counted = [
            typed and bool(gold.observed[span.start : span.end].all())
            for span, typed in zip(ranked.spans, ranked.is_typed.tolist(), strict=True)
        ]
        keys = [(span.start, span.end, span.label_) for span in ranked.spans]
        right.append(
            np.array([c and k in wanted for c, k in zip(counted, keys, strict=True)], float)
        )
        found.append(np.array(counted, float))
    return candidates.sums(right), candidates.sums(found)


def features_of(doc: Doc, candidates: TypedList) -> Floats3d:
    """Features of every hypothesis, float64 `[N, S, F]`, zero where there is none."""
    words = [token.lower_ for token in doc]
    bounds = [*candidates.starts, len(doc)]
    n_sequences = len(candidates.starts)
    lists: list[list[Hypothesis]] = []
    for rank, ranked in enumerate(candidates.ranked, 1):
        cuts = np.searchsorted(ranked.sequences, np.arange(n_sequences + 1))
        of_rank = []
        for i, start in enumerate(candidates.starts):
            part = slice(cuts[i], cuts[i + 1])
            spans = [(span.start - start, span.end - start) for span in ranked.spans[part]]
            scores = ranked.type_scores[part].tolist()
            score = float(ranked.sequence_scores[i])
            of_rank.append(Hypothesis(words[start : bounds[i + 1]], spans, score, scores, rank))
        lists.append(of_rank)
    elsewhere = Elsewhere.of(lists[0])
    values = np.zeros((len(lists), n_sequences, len(FEATURES)))
    for k, of_rank in enumerate(lists):
        for i, hypothesis in enumerate(of_rank):
            if hypothesis.sequence_score > -np.inf:
                values[k, i] = feature_values(hypothesis, elsewhere[i])
    return values
