"""A batch as a chain scores it, and the spans that the scores have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..features.tokens import Tokens
from ..inference.chain import span_posteriors
from ..inference.lattice import Lattice
from ..inference.schemes import UNOBSERVED, Spans, TagSet
from ..types import Bools1d, Floats1d, Floats2d, Ints1d, Ints2d
from .chain import best_labels
from .spans.given import select
from .spans.nbest import Candidates, best_segmentations, candidates_by_doc, normalizers
from .spans.span_lists import list_spans


@dataclass(frozen=True)
class ScoredBatch:
    """The tokens of a batch with their scores.

    tag_set, lattice: of the chain. scores `[T, S]`, transitions `[E]`. preset: bool `[T]`, tokens
    that are in no span any more, whatever their scores.
    """

    tokens: Tokens
    tag_set: TagSet
    lattice: Lattice
    scores: Floats2d
    transitions: Floats1d
    preset: Bools1d

    def __len__(self) -> int:
        return len(self.scores)

    def best_path(self) -> Ints1d:
        """The best tags of each sequence, int32 `[T]`."""
        path = best_labels(self.lattice, self.scores, self.transitions, self.tokens)
        path[self.preset] = 0
        return path

    def best_paths(self, n: int) -> tuple[Ints2d, Floats2d]:
        """Tags `[N, T]` and scores `[N, S]` of the N best of each sequence (`nbest`)."""
        paths, ranked = best_segmentations(
            self.lattice, self.scores, self.transitions, self.tokens, n
        )
        paths[:, self.preset] = 0
        return paths, ranked

    def spans(self, path: Ints1d) -> Spans:
        """The spans of a path."""
        return self.tag_set.spans(path, self.tokens.sequence_starts)

    def candidates(
        self, paths: Ints2d, ranked: Floats2d, are_probabilistic: bool
    ) -> list[Candidates]:
        """The N best paths for each Doc; are_probabilistic: whether scores have probabilities."""
        partitions = None
        if are_probabilistic:
            partitions = normalizers(self.lattice, self.scores, self.transitions, self.tokens)
        return candidates_by_doc(paths, ranked, partitions, self.tag_set, self.tokens)

    def posteriors(self, path: Ints1d, spans: Spans, temperature: float) -> Floats1d:
        """Exact probabilities of spans of a path, scores divided by the temperature."""
        starts = self.tokens.sequence_starts
        open_tags = np.full(len(self), UNOBSERVED, dtype=np.int32)
        n_labels = self.lattice.n_labels
        posteriors = np.empty(len(spans.start))
        sequences = (np.searchsorted(starts, spans.start, side="right") - 1).astype(np.int32)
        span_posteriors(
            self.lattice, self.scores / temperature, self.transitions / temperature,
            np.zeros((n_labels + 1, n_labels)), open_tags, starts, path, spans.start, spans.end,
            sequences, posteriors,
        )  # fmt: skip
        return posteriors

    def likely_spans(self, thresholds: Floats1d, temperature: float) -> tuple[Spans, Floats1d]:
        """All spans with the probability of their label's threshold, and these probabilities."""
        spans, probabilities = list_spans(
            self.tag_set, self.lattice, self.scores / temperature, self.transitions / temperature,
            self.tokens, thresholds,
        )  # fmt: skip
        free = ~self.preset[spans.start]
        return select(spans, free), probabilities[free]
