"""Sequences as a structure of spans scores them, and the spans that the scores have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..features.tokens import Tokens
from ..inference.schemes import Spans
from ..inference.structure import Potentials, Structure
from ..types import Bools1d, Floats1d, Floats2d, Ints1d, Ints2d
from .spans.nbest import Ranked
from .spans.placing import select

LEAST = 0.01
"""Spans of less probability are not listed, whatever the threshold."""


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
        spans = [self.spans(path) for path in paths]
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
        return select(spans, order), probabilities[order]
