"""The linear chain as a structure; `inference.chain_kernels` chooses its kernels."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..numeric.design import BinaryCSR, SegmentRows
from ..types import Floats1d, Floats2d, Ints1d, Ints2d, Pointers1d
from .chain import path_scores
from .chain_kernels import ChainKernels, kernels_for
from .choice_losses import MANY_CHOICES, choice_losses
from .contrast import contrast
from .gathered import gather_k_best, gather_likely, gather_posteriors
from .k_best import best_paths as k_best_paths
from .lattice import (
    Chains,
    Lattice,
    check_sizes,
    choice_lattice,
    free_lattice,
    label_pair_mixing,
)
from .passive_aggressive import cut_sequences, passive_aggressive
from .schemes import SCHEMES, UNOBSERVED, Spans, TagSet
from .structure import Contrast, LabelCosts, OnlineStep, Potentials, Structure


class LinearChain(Structure):
    """Labels that depend on the label before; all sums and searches are exact.

    lattice: which label may follow which. Where features see label pairs, the score columns are
    the transitions, which have no weights besides.
    """

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice
        self.n_labels, self.n_columns = lattice.n_labels, lattice.n_columns
        self.n_transitions = lattice.n_edges
        if lattice.label_pairs:
            self.free_transitions = slice(0)
        self._labels = np.empty(self.n_columns, dtype=np.int32)
        self._labels[lattice.column] = lattice.target
        self._no_costs = np.zeros((self.n_labels + 1, self.n_labels))
        self._tags = np.arange(self.n_labels, dtype=np.int32)
        self._kernels = self._choose_kernels()
        self.transitions_at_once = self._kernels.transitions_at_once

    def _choose_kernels(self) -> ChainKernels:
        return kernels_for(self.lattice)

    def best(self, potentials: Potentials) -> tuple[Ints1d, Floats1d]:
        """The Viterbi path; ties go to the transition listed first."""
        return self._best_labels(self._chains(potentials))

    def k_best(self, potentials: Potentials, k: int) -> tuple[Ints2d, Floats2d]:
        chains = self._chains(potentials)
        return gather_k_best(potentials, k, lambda *written: k_best_paths(chains, *written))

    def log_partitions(self, potentials: Potentials) -> Floats1d:
        return self._kernels.log_partitions(self._chains(potentials))

    def marginals(self, potentials: Potentials) -> Floats2d:
        return self._kernels.marginals(self._chains(potentials))

    def span_posteriors(self, potentials: Potentials, labels: Ints1d, spans: Spans) -> Floats1d:
        """Spans have to be in the order of their starts, without overlap."""
        chains = self._chains(potentials)

        def write(sequences: Ints1d, found: Floats1d) -> None:
            self._kernels.span_posteriors(chains, labels, spans, sequences, found)

        return gather_posteriors(potentials.starts, spans, write)

    def likely_spans(
        self, potentials: Potentials, tag_set: TagSet, least: float
    ) -> tuple[Spans, Floats1d]:
        chains, labels = self._chains(potentials), tag_set.span_labels[self._tags]

        def write(spans: Spans, probabilities: Floats1d) -> int:
            return self._kernels.likely_spans(chains, labels, least, spans, probabilities)

        return gather_likely(len(potentials.scores), write)

    def contrast(self, potentials: Potentials, labels: Ints1d, start: int) -> Contrast | None:
        scores, transitions, _, _ = potentials
        check_sizes(self.lattice, scores, transitions)
        return contrast(self.lattice, scores, transitions, labels, start)

    def clamp(self, potentials: Potentials, observed: Ints1d) -> None:
        """Each sequence has to have a legal labelling that agrees."""
        clamp = self.label_costs(np.zeros((self.n_labels, self.n_labels))).clamp
        known = np.flatnonzero(observed != UNOBSERVED)
        potentials.scores[known] += clamp[:, self._labels][observed[known] + 1]

    def parts(self, labels: Ints1d) -> tuple[Ints1d, Ints1d]:
        lattice = self.lattice
        number = np.full((lattice.n_labels, lattice.n_labels), -1, dtype=np.int32)
        number[lattice.source, lattice.target] = np.arange(lattice.n_edges)
        edges: Ints1d = number[np.append(lattice.start, labels[:-1]), labels]
        return lattice.column[edges], edges

    def label_costs(self, costs: Floats2d) -> LabelCosts:
        """Rows are those of `inference.chain`: nothing observed, each label, a span has ended."""
        n_labels = self.n_labels
        margin, clamp = np.zeros((2, n_labels + 2, n_labels))
        margin[1:-1] = costs
        clamp[1:-1] = np.where(np.eye(n_labels) > 0, 0.0, -np.inf)
        clamp[-1, self.lattice.continued] = -np.inf
        return LabelCosts(margin, clamp)

    def margin_losses(
        self,
        potentials: Potentials,
        costs: LabelCosts,
        observed: Ints1d,
        first: int,
        last: int,
        losses: Floats1d,
        gradient_weights: tuple[Floats1d, Floats1d],
    ) -> Floats1d:
        chains = self._chains(potentials, costs.margin, observed)
        return self._losses(chains, costs.clamp, gradient_weights, first, last, losses)

    def margin_partitions(
        self, potentials: Potentials, costs: LabelCosts, observed: Ints1d
    ) -> Floats1d:
        return self._kernels.margin_partitions(self._chains(potentials, costs.margin, observed))

    def path_scores(self, potentials: Potentials, labels: Ints1d) -> Floats1d:
        values = np.empty(len(potentials.starts) - 1)
        path_scores(self._chains(potentials, observed=labels), values)
        return values

    def cut(self, observed: Ints1d, starts: Pointers1d, least: int) -> Pointers1d:
        """A piece starts after the label that stands before every sequence, so nothing changes."""
        return cut_sequences(observed, starts, self.lattice.start, least)

    def learn_online(
        self,
        features: BinaryCSR,
        observed: Ints1d,
        starts: Pointers1d,
        step: OnlineStep,
        segments: SegmentRows | None = None,
    ) -> float:
        mixing = self.mixing()
        return passive_aggressive(
            features.indptr, features.indices, self.lattice, observed, starts, step, mixing @ mixing
        )

    def mixing(self) -> Floats2d:
        """Label and label pair share a column."""
        return label_pair_mixing(self.lattice)

    def transition_columns(self) -> Ints1d:
        return self.lattice.column

    def column_names(self, labels: Sequence[str]) -> list[Hashable]:
        if self.lattice.label_pairs:
            return [*self._edge_names(labels)]
        return [labels[label] for label in self._labels.tolist()]

    def transition_names(self, labels: Sequence[str]) -> list[tuple[str, str]]:
        return self._edge_names(labels)

    def _edge_names(self, labels: Sequence[str]) -> list[tuple[str, str]]:
        edges = zip(self.lattice.source.tolist(), self.lattice.target.tolist(), strict=True)
        return [(labels[previous], labels[current]) for previous, current in edges]

    def label_columns(self, label: int) -> tuple[Ints1d, Ints1d | None]:
        edges = slice(self.lattice.first_edge[label], self.lattice.first_edge[label + 1])
        columns = self.lattice.column[edges]
        if self.lattice.label_pairs and len(columns) > 1:
            return columns, self.lattice.source[edges]
        return columns[:1], None

    def _best_labels(self, chains: Chains) -> tuple[Ints1d, Floats1d]:
        """As `best`, of chains."""
        return self._kernels.best(chains)

    def _losses(
        self,
        chains: Chains,
        clamp: Floats2d,
        gradient_weights: tuple[Floats1d, Floats1d],
        first: int,
        last: int,
        losses: Floats1d,
    ) -> Floats1d:
        """As `margin_losses`, of chains."""
        return self._kernels.losses(chains, clamp, gradient_weights, first, last, losses)

    def _chains(
        self, potentials: Potentials, costs: Floats2d | None = None, observed: Ints1d | None = None
    ) -> Chains:
        """Sequences as kernels take them, without costs and observations if none are given."""
        scores, transitions, starts, _ = potentials
        check_sizes(self.lattice, scores, transitions)
        if costs is None:
            costs = self._no_costs
        if observed is None:
            observed = np.full(len(scores), UNOBSERVED, dtype=np.int32)
        return Chains(self.lattice, scores, transitions, costs, observed, starts)


class FreeChoice(LinearChain):
    """One choice among labels: a chain of length one, whose transitions belong to one label."""

    def _edge_names(self, labels: Sequence[str]) -> list[tuple[str, str]]:
        return [("", label) for label in labels]

    def _losses(
        self,
        chains: Chains,
        clamp: Floats2d,
        gradient_weights: tuple[Floats1d, Floats1d],
        first: int,
        last: int,
        losses: Floats1d,
    ) -> Floats1d:
        if self.n_labels < MANY_CHOICES:
            return super()._losses(chains, clamp, gradient_weights, first, last, losses)
        return choice_losses(chains, gradient_weights, first, last, losses)


@dataclass(frozen=True)
class ChainFamily:
    """The linear chains that a model can be, whatever its labels.

    label_pairs: whether features are combined with the pair (previous label, label), too.
    """

    label_pairs: bool

    structure: ClassVar[type[LinearChain]] = LinearChain
    """The class of its structures, which says what they offer."""

    def of_spans(self, tag_set: TagSet) -> LinearChain:
        """Tags that spans have under a scheme."""
        return LinearChain(tag_set.lattice(self.label_pairs))

    def of_labels(self, n_labels: int) -> LinearChain:
        """Labels `1 … n_labels` in any order; label 0 stands before the first one."""
        return LinearChain(free_lattice(n_labels, self.label_pairs))

    def of_classes(self, n_classes: int) -> FreeChoice:
        return FreeChoice(choice_lattice(n_classes))

    def size_of_spans(self, scheme: str, n_labels: int) -> tuple[int, int]:
        """`E` and `S` of `of_spans`, without making it; the others likewise."""
        n_edges = TagSet.n_edges(scheme, n_labels)
        n_tags = 1 + n_labels * len(SCHEMES[scheme].prefixes)
        return n_edges, n_edges if self.label_pairs else n_tags

    def size_of_labels(self, n_labels: int) -> tuple[int, int]:
        n_edges = n_labels * (n_labels + 1)
        return n_edges, n_edges if self.label_pairs else n_labels

    def size_of_classes(self, n_classes: int) -> tuple[int, int]:
        return n_classes, n_classes

    def identity(self) -> dict[str, bool]:
        """Settings without which saved weights mean something else."""
        return {"label_pairs": self.label_pairs}
