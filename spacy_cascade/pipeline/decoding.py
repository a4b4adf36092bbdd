"""From Docs to the spans of their sentences: potentials, best paths, probabilities.

Arrays with the scores of all tokens of a batch do not stay in the processor's cache, and for a long
Doc the system has to give the memory first, page by page. Each sequence is decoded by itself, so
some thousand tokens at a time give the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from spacy.tokens import Doc

from ..features.tokens import Tokens
from ..features.units import Units
from ..inference.schemes import Spans
from ..inference.structure import Potentials, Structure
from ..scorers.linear import all_scores
from ..types import Bools1d, Floats1d, Floats2d, Ints1d, Ints2d, Pointers1d
from .reading import Scoring, read, token_units
from .spans.nbest import Ranked
from .spans.placing import part_of
from .spans.results import Decoded

PART = 1 << 15
"""About so many tokens of a batch have scores at a time, or fewer with many labels:"""
_SCORES = 1 << 23
"""so that these are 64 megabytes."""
LEAST = 0.01
"""Spans of less probability are not listed, whatever the threshold."""


def potentials_of(pipe: Scoring, docs: Sequence[Doc]) -> tuple[Tokens, Potentials]:
    """The tokens of a batch, and the potentials of their labels.

    Raises `NotTrainedError` without weights.
    """
    tokens, linear = linear_potentials(pipe, docs)
    return tokens, pipe.structure.normalised(linear)


def linear_potentials(pipe: Scoring, docs: Sequence[Doc]) -> tuple[Tokens, Potentials]:
    """The tokens of a batch, and what weights give. Raises `NotTrainedError` without such."""
    pipe.begin_batch()
    tokens, weights = read(pipe, docs), pipe.weights
    if not len(tokens.words):
        scores = np.zeros((0, weights.features.shape[1]))
        return tokens, Potentials(scores, weights.transitions, tokens.sequence_starts)
    return tokens, _potentials(pipe, token_units(pipe, tokens), tokens.sequence_starts)


def potentials_in_parts(
    pipe: Scoring, docs: Sequence[Doc]
) -> tuple[Tokens, Iterator[tuple[int, Potentials]]]:
    """The tokens of a batch, and of its parts the first token and the normalised potentials.

    A batch without tokens has no parts. One that can only be read as a whole is one part. Raises
    `NotTrainedError` without weights.
    """
    pipe.begin_batch()
    tokens, _ = read(pipe, docs), pipe.weights
    return tokens, parts_of(pipe, tokens)


def parts_of(pipe: Scoring, tokens: Tokens) -> Iterator[tuple[int, Potentials]]:
    """As `potentials_in_parts`, of tokens that were read in a batch that has begun."""
    if not len(tokens.words):
        return
    units, starts = token_units(pipe, tokens), tokens.sequence_starts
    if not pipe.space.scores_in_parts:
        yield 0, pipe.structure.normalised(_potentials(pipe, units, starts))
        return
    size = min(PART, max(1, _SCORES // pipe.structure.n_columns))
    cuts = np.searchsorted(starts, np.arange(0, starts[-1], size))
    for first, last in pairwise(np.unique(np.append(cuts, len(starts) - 1)).tolist()):
        begin, end = int(starts[first]), int(starts[last])
        own = starts[first : last + 1] - begin
        part = _potentials(pipe, units.take(slice(begin, end)), own)
        yield begin, pipe.structure.normalised(part)


def _potentials(pipe: Scoring, units: Units, starts: Pointers1d) -> Potentials:
    structure, others = pipe.structure, pipe.space.encode_others(units)
    scored = all_scores(pipe.model, units, others, structure.columns.blocks)
    return structure.compose(scored, others, pipe.weights.transitions, starts)


def spans_of_paths(structure: Structure, paths: Ints2d, starts: Pointers1d) -> list[Spans]:
    """The spans of each of the paths `[N, T]` through the same sequences."""
    n, length = paths.shape
    offsets = length * np.arange(n + 1)
    of_paths = np.append((offsets[:-1, None] + starts[:-1]).reshape(-1), offsets[-1])
    found = structure.spans(paths.reshape(-1), of_paths)
    cuts = pairwise(np.searchsorted(found.start, offsets).tolist())
    return [
        part_of(found, slice(*cut), offset) for cut, offset in zip(cuts, offsets[:-1], strict=True)
    ]


@dataclass(frozen=True)
class ScoredBatch:
    """Sequences with their potentials; spans are counted from their first token.

    tokens: of the batch that they are, or are a part of. preset: bool `[T]`, tokens of the
    sequences that are in no span any more, whatever their scores.
    """

    tokens: Tokens
    structure: Structure
    potentials: Potentials
    preset: Bools1d

    def __len__(self) -> int:
        return len(self.potentials.scores)

    def best_path(self) -> Ints1d:
        """The best tags of each sequence, int32 `[T]`."""
        path, _ = self.structure.best(self.potentials)
        path[self.preset] = 0
        return path

    def best_paths(self, n: int) -> tuple[Ints2d, Floats2d]:
        """Tags `[N, T]` and scores `[N, S]` of the N best; outside where there is none."""
        paths, ranked = self.structure.k_best(self.potentials, n)
        paths[:, self.preset] = 0
        return paths, ranked

    def spans(self, path: Ints1d) -> Spans:
        """The spans of a path."""
        return self.structure.spans(path, self.potentials.starts)

    def ranked(self, paths: Ints2d, scores: Floats2d, is_probabilistic: bool) -> Ranked:
        """The N best paths; is_probabilistic: whether scores have probabilities."""
        spans = spans_of_paths(self.structure, paths, self.potentials.starts)
        if not is_probabilistic:
            return Ranked(spans, scores, None)
        return Ranked(spans, scores, scores - self.structure.log_partitions(self.potentials))

    def log_probabilities(self, ranked: Floats2d, temperature: float) -> Floats2d:
        """Of sequences with the scores `[N, S]`, at a temperature."""
        flatter = self.potentials.at_temperature(temperature)
        found: Floats2d = ranked / temperature - self.structure.log_partitions(flatter)
        return found

    def posteriors(self, path: Ints1d, spans: Spans, temperature: float) -> Floats1d:
        """Exact probabilities of spans of a path, at a temperature."""
        return self.structure.span_posteriors(
            self.potentials.at_temperature(temperature), path, spans
        )

    def likely_spans(self, thresholds: Floats1d, temperature: float) -> tuple[Spans, Floats1d]:
        """Spans that reach their label's threshold, by start and end, and their probabilities."""
        spans, probabilities = self.structure.likely_spans(
            self.potentials.at_temperature(temperature), max(LEAST, thresholds.min())
        )
        sure = np.flatnonzero(probabilities >= thresholds[spans.label])
        order = sure[np.lexsort((spans.end[sure], spans.start[sure]))]
        order = order[~self.preset[spans.start[order]]]
        return spans.take(order), probabilities[order]


class Decoding(Protocol):
    """The settings that say which spans are found."""

    overlapping: bool
    n_best: int
    confidence: bool
    temperature: float


def decode(
    batch: ScoredBatch, settings: Decoding, thresholds: Floats1d, is_probabilistic: bool
) -> Decoded:
    """The spans of sequences; thresholds: of each label. is_probabilistic: whether the loss is."""
    if settings.overlapping:
        return Decoded(*batch.likely_spans(thresholds, settings.temperature))
    ranked = None
    if settings.n_best == 1:
        path = batch.best_path()
        spans = batch.spans(path)
    else:
        paths, scores = batch.best_paths(settings.n_best)
        path, ranked = paths[0], batch.ranked(paths, scores, is_probabilistic)
        spans = ranked.spans[0]
    if not settings.confidence:
        return Decoded(spans, None, ranked)
    confidences = batch.posteriors(path, spans, settings.temperature)
    kept = confidences >= thresholds[spans.label]
    return Decoded(spans.take(kept), confidences[kept], ranked)
