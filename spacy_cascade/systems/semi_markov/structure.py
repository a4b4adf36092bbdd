"""The semi-Markov chain as a structure: spans are scored as wholes, and their tokens as a chain is.

A labelling is the tags of a segmentation under a scheme, and spans have at most `L` tokens. Its
score is that of the linear chain with these tags, plus scores of its spans. Without those, and with
a large `L`, it *is* the linear chain. (docs/method.md, section 2.10)

Score columns are those of the chain `[S]`, then one for each span label `[n]`; the weights in the
latter belong to features of spans. Transitions are those of the chain `[E]`, then weights of
lengths: indicators of `d = 1 … D`, the last one of all longer spans too, then `d/10` and
`(d/10)²`, which make lengths Gaussian.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from thinc.api import Model

from ...checks import configured
from ...errors import ConfigError, TrainingError
from ...features.templates import Templates
from ...features.units import Units
from ...inference.chain_kernels import ChainKernels
from ...inference.contrast import contrast
from ...inference.lattice import Chains
from ...inference.linear_chain import ChainFamily, LinearChain
from ...inference.schemes import SCHEMES, Spans, TagSet
from ...inference.spans import gather_k_best, gather_likely, gather_posteriors
from ...inference.structure import (
    Columns,
    Contrast,
    Costs,
    OnlineStep,
    Part,
    Potentials,
    Shares,
    Whole,
)
from ...numeric.design import SegmentRows, only_design
from ...numeric.encoded import Encoded
from ...scorers.linear import make_linear_model
from ...types import Floats1d, Floats2d, Ints1d, Ints2d, Pointers1d
from .best import best_segmentation, best_segmentations
from .features import SegmentSettings
from .losses import segment_losses, segment_path_scores
from .online import SegmentFeatures, learn_segmentations
from .segments import Grid, Segments, probable_segments, segment_partitions, segment_posteriors
from .space import SegmentSpace

LENGTHS = 16
"""`D`, the lengths that are told apart."""
N_LENGTH_WEIGHTS = LENGTHS + 2
_UNIT = 10.0


def length_basis(longest: int) -> Floats2d:
    """What weights of lengths add to a span of `1 … L` tokens, float64 `[L, D + 2]`."""
    d = np.arange(1, longest + 1)
    basis = np.zeros((longest, N_LENGTH_WEIGHTS))
    basis[d - 1, np.minimum(d, LENGTHS) - 1] = 1.0
    basis[:, LENGTHS] = d / _UNIT
    basis[:, LENGTHS + 1] = (d / _UNIT) ** 2
    return basis


class SegmentScores(NamedTuple):
    """Scores of segments as wholes, beside those of their units.

    ends: int64 `[T + 1]`; rows `ends[t]:ends[t + 1]` are segments whose last unit is `t`, the
    shortest first. length: int32 `[M]`, their units. scores: float64 `[M, n]`, for each label of a
    segment; those without a row have 0. longest: `L`; there are no longer ones.
    """

    ends: Pointers1d
    length: Ints1d
    scores: Floats2d
    longest: int

    def of_units(self, begin: int, end: int) -> SegmentScores:
        """Those of the sequence from unit `begin` to before `end`."""
        first, last = self.ends[begin], self.ends[end]
        ends = self.ends[begin : end + 1] - first
        return SegmentScores(ends, self.length[first:last], self.scores[first:last], self.longest)


@dataclass(frozen=True)
class SegmentPotentials(Potentials):
    """Potentials with scores of segments."""

    segments: SegmentScores

    @property
    def scored(self) -> tuple[Floats2d, ...]:
        return self.scores, self.segments.scores

    def with_scored(self, scored: Sequence[Floats2d], transitions: Floats1d) -> Potentials:
        scores, of_segments = scored
        segments = self.segments._replace(scores=of_segments)
        return SegmentPotentials(scores, transitions, self.starts, segments)

    def of_sequence(self, begin: int, end: int) -> Potentials:
        segments = self.segments.of_units(begin, end)
        return super().of_sequence(begin, end).replace(segments=segments)


class SemiMarkovChain(LinearChain):
    """Segmentations of sequences; all sums and searches are exact."""

    def __init__(self, tag_set: TagSet, label_pairs: bool) -> None:
        """Raises `ConfigError` where tags do not tell segments of one label apart."""
        if not SCHEMES[tag_set.scheme].separates:
            raise ConfigError(
                f"A semi-Markov model cannot have the tagging scheme '{tag_set.scheme}', under "
                'which touching spans are one. Set scheme = "BILOU" or "IOB2" in the component.'
            )
        self.n_spans = len(tag_set.labels)
        super().__init__(tag_set.lattice(label_pairs), tag_set)
        self._n_chain_columns, self._n_edges = self.lattice.n_columns, self.lattice.n_edges
        self._grid = _grid(tag_set, self.lattice.source, self.lattice.target)

    def _columns(self) -> Columns:
        """Columns of spans share nothing, and the column of a length is that of its label."""
        own, labels = super()._columns(), self.tag_set.labels
        of_lengths = np.tile(np.arange(self.n_spans), N_LENGTH_WEIGHTS) + own.n_columns
        lengths = [*map(str, range(1, LENGTHS)), f"{LENGTHS} or more", "linear", "squared"]
        return replace(
            own,
            of_transition=np.append(own.of_transition, of_lengths.astype(np.int32)),
            more_columns=[("span", label) for label in labels],
            more_transitions=[(f"length {d}", label) for d in lengths for label in labels],
            blocks=[slice(None), slice(own.n_columns, own.n_columns + self.n_spans)],
        )

    def compose(
        self,
        scored: Sequence[Floats2d],
        encoded: Sequence[Encoded],
        transitions: Floats1d,
        starts: Pointers1d,
    ) -> SegmentPotentials:
        scores, of_segments = scored
        (rows,) = (each for each in encoded if isinstance(each, SegmentRows))
        segments = SegmentScores(rows.ends, rows.length, of_segments, rows.longest)
        return SegmentPotentials(scores, transitions, starts, segments)

    def _choose_kernels(self) -> ChainKernels:
        """For the scores of segments there are none for many labels."""
        return ChainKernels(self.lattice)

    # What trained models are asked

    def best(self, potentials: Potentials) -> tuple[Ints1d, Floats1d]:
        """The best segmentation, as tags."""
        return self._best_of(self._chains(potentials), self._segments(potentials))

    def k_best(self, potentials: Potentials, k: int) -> tuple[Ints2d, Floats2d]:
        chains, segments = self._chains(potentials), self._segments(potentials)

        def write(paths: Ints2d, scores: Floats2d, n_paths: Ints1d) -> None:
            best_segmentations(self._grid, chains, segments, paths, scores, n_paths)

        return gather_k_best(potentials, k, write)

    def log_partitions(
        self, potentials: Potentials, costs: Costs | None = None, observed: Ints1d | None = None
    ) -> Floats1d:
        values = np.empty(len(potentials.starts) - 1)
        chains = self._chains(potentials, None if costs is None else costs.margin, observed)
        segment_partitions(self._grid, chains, self._segments(potentials), values)
        return values

    def span_posteriors(self, potentials: Potentials, labels: Ints1d, spans: Spans) -> Floats1d:
        """Spans have to be in the order of their sequences."""
        chains, segments = self._chains(potentials), self._segments(potentials)

        def write(sequences: Ints1d, found: Floats1d) -> None:
            segment_posteriors(self._grid, chains, segments, spans, sequences, found)

        return gather_posteriors(potentials.starts, spans, write)

    def likely_spans(self, potentials: Potentials, least: float) -> tuple[Spans, Floats1d]:
        """In the order of the ends."""
        chains, segments = self._chains(potentials), self._segments(potentials)

        def write(spans: Spans, probabilities: Floats1d) -> int:
            return probable_segments(self._grid, chains, segments, least, spans, probabilities)

        return gather_likely(len(potentials.scores), write)

    def contrast(self, potentials: Potentials, labels: Ints1d, start: int) -> Contrast | None:
        segments = self._segments(potentials)

        def best_of(chains: Chains) -> tuple[Ints1d, Floats1d]:
            return self._best_of(chains, _repeated(segments, len(chains.starts) - 1))

        edges = potentials.transitions[: self._n_edges]
        paths = contrast(self.lattice, potentials.scores, edges, labels, start, best_of)
        found = self._contrast(paths)
        if found is None:
            return None
        wholes = [self._wholes(of.labels, segments.of_lengths) for of in found]
        return Contrast(*(of._replace(wholes=w) for of, w in zip(found, wholes, strict=True)))

    def _wholes(self, labels: Ints1d, of_lengths: Floats2d) -> list[Whole]:
        """The spans of a sequence, with what the weights of lengths add to each."""
        spans = self.spans(labels, np.array([0, len(labels)]))
        return [
            Whole(start, end, self._n_chain_columns + k, float(of_lengths[end - start - 1, k]))
            for start, end, k in zip(*(each.tolist() for each in spans), strict=True)
        ]

    def clamp(self, potentials: Potentials, observed: Ints1d) -> None:
        """Each sequence has to have a legal segmentation that agrees."""
        own = potentials.scores[:, : self._n_chain_columns]
        super().clamp(potentials.replace(scores=own), observed)

    # What losses and trainers ask

    def losses(self, part: Part, costs: Costs, shares: Shares | None = None) -> Floats1d:
        """The scores of spans are OVERWRITTEN by their gradient, too."""
        segments, terms = self._segments(part.potentials), part.terms(costs, shares)
        totals = np.zeros(self._n_edges), np.zeros_like(segments.of_lengths)
        chains = self._chains(part.potentials, costs.margin, part.observed)
        segment_losses(self._grid, chains, segments, terms, totals)
        of_edges, of_lengths = totals
        of_weights = length_basis(len(of_lengths)).T @ of_lengths
        return np.concatenate([of_edges, of_weights.reshape(-1)])

    def path_scores(self, potentials: Potentials, labels: Ints1d) -> Floats1d:
        values = np.empty(len(potentials.starts) - 1)
        chains = self._chains(potentials, observed=labels)
        segment_path_scores(self._grid, chains, self._segments(potentials), values)
        return values

    def learn_online(
        self, encoded: Sequence[Encoded], observed: Ints1d, starts: Pointers1d
    ) -> Callable[[OnlineStep], float]:
        *of_units, segments = encoded
        assert isinstance(segments, SegmentRows), "the scorers of a semi-Markov chain see segments"
        design = only_design(of_units, "Online training")
        features, sparse, mixing = design.active_features(), segments.features, self.columns.mixing
        rows = SegmentFeatures(segments.ends, segments.length, sparse.indptr, sparse.indices)
        squared, basis = mixing @ mixing, length_basis(segments.longest)

        def learn(step: OnlineStep) -> float:
            return learn_segmentations(
                features.indptr, features.indices, rows, self._grid, self.lattice, observed,
                starts, step, squared, basis,
            )  # fmt: skip

        return learn

    # For kernels

    def _chains(
        self, potentials: Potentials, costs: Floats2d | None = None, observed: Ints1d | None = None
    ) -> Chains:
        edges = potentials.transitions[: self._n_edges]
        return super()._chains(potentials.replace(transitions=edges), costs, observed)

    def _segments(self, potentials: Potentials) -> Segments:
        """Scores of spans, with what the weights of lengths add."""
        assert isinstance(potentials, SegmentPotentials), "those of another structure"
        found = potentials.segments
        sizes = found.scores.shape[1], potentials.transitions.size
        if sizes != (self.n_spans, self.n_transitions):
            raise TrainingError(
                f"Scores of spans with {found.scores.shape[1]} labels do not belong to a model of "
                f"{self.n_spans}. Did another thread add labels, train or load the component "
                "meanwhile? Do so while no thread annotates."
            )
        weights = potentials.transitions[self._n_edges :].reshape(N_LENGTH_WEIGHTS, self.n_spans)
        of_lengths = length_basis(found.longest) @ weights
        return Segments(found.ends, found.length, found.scores, of_lengths)

    def _best_of(self, chains: Chains, segments: Segments) -> tuple[Ints1d, Floats1d]:
        path = np.empty(len(chains.scores), dtype=np.int32)
        scores = np.empty(len(chains.starts) - 1)
        best_segmentation(self._grid, chains, segments, path, scores)
        return path, scores


def _grid(tag_set: TagSet, source: Ints1d, target: Ints1d) -> Grid:
    """Tags and edges of the spans of each label."""
    scheme, n = SCHEMES[tag_set.scheme], len(tag_set.labels)
    base = 1 + np.arange(n, dtype=np.int32) * np.int32(len(scheme.prefixes))
    single, first, inside, last = (
        base + np.int32(scheme.prefixes.index(prefix))
        for prefix in (scheme.single, scheme.first, scheme.inside, scheme.last)
    )
    number = {pair: e for e, pair in enumerate(zip(source.tolist(), target.tolist(), strict=True))}

    def edges(one: Ints1d, other: Ints1d) -> Ints1d:
        pairs = zip(one.tolist(), other.tolist(), strict=True)
        return np.array([number[pair] for pair in pairs], dtype=np.int32)

    return Grid(
        single, first, last,
        edges(first, last), edges(first, inside), edges(inside, inside), edges(inside, last),
    )  # fmt: skip


def _repeated(segments: Segments, n: int) -> Segments:
    """The segments of one sequence, once for each of `n` copies of it."""
    ends, size = segments.ends - segments.ends[0], len(segments.length)
    copies = (ends[:-1] + size * np.arange(n)[:, None]).reshape(-1)
    return Segments(
        np.append(copies, n * size), np.tile(segments.length, n),
        np.tile(segments.scores, (n, 1)), segments.of_lengths,
    )  # fmt: skip


@dataclass(frozen=True)
class SemiMarkovFamily(ChainFamily):
    """The semi-Markov chains that a model can be, whatever its labels."""

    structure: ClassVar[type[LinearChain]] = SemiMarkovChain

    def of_spans(self, tag_set: TagSet) -> SemiMarkovChain:
        return SemiMarkovChain(tag_set, self.label_pairs)

    def size_of_spans(self, scheme: str, n_labels: int) -> tuple[int, int]:
        n_edges, n_columns = super().size_of_spans(scheme, n_labels)
        return n_edges + N_LENGTH_WEIGHTS * n_labels, n_columns + n_labels


@configured
def make_semi_markov(
    templates: Templates,
    segments: Templates,
    min_count: int = 5,
    segment_min_count: int = 2,
    label_pairs: bool = True,
    longest: int | None = None,
) -> Model[Units, Floats2d]:
    """A semi-Markov chain: the linear chain, and scores of spans as wholes.

    templates: what features of tokens look at. segments: what features of spans look at. min_count:
    features in fewer tokens are dropped. segment_min_count: features of fewer gold spans are
    dropped. label_pairs: as for the linear chain. longest: most tokens of a span; null for the
    least number that holds 99.8 % of those of the corpus, 64 at most.
    """
    settings = SegmentSettings(segments, longest, segment_min_count)
    family = SemiMarkovFamily(label_pairs)
    space = SegmentSpace(templates, settings)
    return make_linear_model("cascade_semi_markov", templates, min_count, family, space)
