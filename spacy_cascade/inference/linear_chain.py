"""The linear chain as a structure; `inference.chain_kernels` chooses its kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..numeric.design import only_design
from ..numeric.encoded import Encoded
from ..types import Bools1d, Floats1d, Floats2d, Ints1d, Ints2d, Pointers1d
from .chain import path_scores
from .chain_kernels import ChainKernels, ChoiceKernels, kernels_for
from .choice_losses import MANY_CHOICES
from .contrast import contrast
from .k_best import best_paths as k_best_paths
from .lattice import Chains, Lattice, check_sizes, choice_lattice, free_lattice
from .passive_aggressive import cut_sequences, passive_aggressive
from .schemes import SCHEMES, UNOBSERVED, Spans, TagSet
from .spans import gather_k_best, gather_likely, gather_posteriors
from .structure import (
    Columns,
    Contrast,
    Costs,
    Labelling,
    Online,
    OnlineStep,
    Part,
    Paths,
    Potentials,
    Shares,
)


class LinearChain(Paths, Online):
    """Labels that depend on the label before; all sums and searches are exact.

    lattice: which label may follow which. Where features see label pairs, the score columns are
    the transitions, which have no weights besides. tag_set: of labels that stand for spans.
    """

    def __init__(self, lattice: Lattice, tag_set: TagSet | None = None) -> None:
        self.lattice, self.n_labels, self._tag_set = lattice, lattice.n_labels, tag_set
        self._labels = np.empty(lattice.n_columns, dtype=np.int32)
        self._labels[lattice.column] = lattice.target
        self._no_costs = np.zeros((self.n_labels + 1, self.n_labels))
        self._tags = np.arange(self.n_labels, dtype=np.int32)
        self.columns = self._columns()
        self._kernels = self._choose_kernels()
        self.transitions_at_once = self._kernels.transitions_at_once

    def _columns(self) -> Columns:
        """Label and label pair share a column."""
        lattice = self.lattice
        runs = np.column_stack([lattice.source, lattice.target])
        if lattice.label_pairs:
            shared = lattice.first_edge if lattice.n_edges > lattice.n_labels else None
            return Columns(runs, runs, lattice.column, len(runs), shared)
        return Columns(self._labels[:, None], runs, lattice.column)

    def _choose_kernels(self) -> ChainKernels:
        return kernels_for(self.lattice)

    @property
    def tag_set(self) -> TagSet:
        """The labels as tags of spans. Raises `ConfigError` where they are no such tags."""
        if self._tag_set is None:
            raise self._not_offered("spans")
        return self._tag_set

    def observed(self, spans: Spans, known: Bools1d) -> Ints1d:
        return self.tag_set.observed(spans, known)

    def spans(self, labels: Ints1d, starts: Pointers1d) -> Spans:
        return self.tag_set.spans(labels, starts)

    def best(self, potentials: Potentials) -> tuple[Ints1d, Floats1d]:
        """The Viterbi path; ties go to the transition listed first."""
        return self._best_labels(self._chains(potentials))

    def k_best(self, potentials: Potentials, k: int) -> tuple[Ints2d, Floats2d]:
        chains = self._chains(potentials)
        return gather_k_best(potentials, k, lambda *written: k_best_paths(chains, *written))

    def log_partitions(
        self, potentials: Potentials, costs: Costs | None = None, observed: Ints1d | None = None
    ) -> Floats1d:
        if costs is None:
            return self._kernels.log_partitions(self._chains(potentials))
        return self._kernels.margin_partitions(self._chains(potentials, costs.margin, observed))

    def span_posteriors(self, potentials: Potentials, labels: Ints1d, spans: Spans) -> Floats1d:
        """Spans have to be in the order of their starts, without overlap."""
        chains = self._chains(potentials)

        def write(sequences: Ints1d, out: Floats1d) -> None:
            self._kernels.span_posteriors(chains, labels, spans, sequences, out)

        return gather_posteriors(potentials.starts, spans, write)

    def likely_spans(self, potentials: Potentials, least: float) -> tuple[Spans, Floats1d]:
        chains, labels = self._chains(potentials), self.tag_set.span_labels[self._tags]

        def write(spans: Spans, probabilities: Floats1d) -> int:
            return self._kernels.likely_spans(chains, labels, least, spans, probabilities)

        return gather_likely(len(potentials.scores), write)

    def contrast(self, potentials: Potentials, labels: Ints1d, start: int) -> Contrast | None:
        scores, transitions = potentials.scores, potentials.transitions
        check_sizes(self.lattice, scores, transitions)
        return self._contrast(contrast(self.lattice, scores, transitions, labels, start))

    def clamp(self, potentials: Potentials, observed: Ints1d) -> None:
        """Each sequence has to have a legal labelling that agrees."""
        clamp = self.costs(np.zeros((self.n_labels, self.n_labels))).clamp
        known = np.flatnonzero(observed != UNOBSERVED)
        potentials.scores[known] += clamp[:, self._labels][observed[known] + 1]

    def _contrast(self, paths: tuple[Ints1d, Ints1d] | None) -> Contrast | None:
        return None if paths is None else Contrast(*map(self._labelling, paths))

    def _labelling(self, labels: Ints1d) -> Labelling:
        """Legal labels of a sequence, with what adds up to their score."""
        columns, transitions = self._uses(labels)
        return Labelling(labels, columns, transitions)

    def _uses(self, labels: Ints1d) -> tuple[Ints1d, Ints1d]:
        """Columns and transitions, int32 `[T]`, in the score of legal labels of a sequence."""
        lattice = self.lattice
        number = np.full((lattice.n_labels, lattice.n_labels), -1, dtype=np.int32)
        number[lattice.source, lattice.target] = np.arange(lattice.n_edges)
        edges: Ints1d = number[np.append(lattice.start, labels[:-1]), labels]
        return lattice.column[edges], edges

    def costs(self, of_labels: Floats2d) -> Costs:
        """Rows are those of `inference.chain`: nothing observed, each label, a span has ended."""
        n_labels = self.n_labels
        margin, clamp = np.zeros((2, n_labels + 2, n_labels))
        margin[1:-1] = of_labels
        clamp[1:-1] = np.where(np.eye(n_labels) > 0, 0.0, -np.inf)
        clamp[-1, self.lattice.continued] = -np.inf
        return Costs(margin, clamp)

    def losses(self, part: Part, costs: Costs, shares: Shares | None = None) -> Floats1d:
        chains = self._chains(part.potentials, costs.margin, part.observed)
        return self._kernels.losses(chains, part.terms(costs, shares))

    def path_scores(self, potentials: Potentials, labels: Ints1d) -> Floats1d:
        values = np.empty(len(potentials.starts) - 1)
        path_scores(self._chains(potentials, observed=labels), values)
        return values

    def cut(self, observed: Ints1d, starts: Pointers1d, least: int) -> Pointers1d:
        """A piece starts after the label that stands before every sequence, so nothing changes."""
        return cut_sequences(observed, starts, self.lattice.start, least)

    def learn_online(
        self, encoded: Sequence[Encoded], observed: Ints1d, starts: Pointers1d
    ) -> Callable[[OnlineStep], float]:
        design = only_design(encoded, "Online training")
        features, mixing = design.active_features(), self.columns.mixing
        of_units, squared = (features.indptr, features.indices), mixing @ mixing

        def learn(step: OnlineStep) -> float:
            return passive_aggressive(*of_units, self.lattice, observed, starts, step, squared)

        return learn

    def _best_labels(self, chains: Chains) -> tuple[Ints1d, Floats1d]:
        """As `best`, of chains."""
        return self._kernels.best(chains)

    def _chains(
        self, potentials: Potentials, costs: Floats2d | None = None, observed: Ints1d | None = None
    ) -> Chains:
        """Sequences as kernels take them, without costs and observations if none are given."""
        scores, transitions, starts = potentials.scores, potentials.transitions, potentials.starts
        check_sizes(self.lattice, scores, transitions)
        if costs is None:
            costs = self._no_costs
        if observed is None:
            observed = np.full(len(scores), UNOBSERVED, dtype=np.int32)
        return Chains(self.lattice, scores, transitions, costs, observed, starts)


class FreeChoice(LinearChain):
    """One choice among labels: a chain of length one, whose transitions belong to one label."""

    def _choose_kernels(self) -> ChainKernels:
        return (ChoiceKernels if self.n_labels >= MANY_CHOICES else ChainKernels)(self.lattice)

    def _columns(self) -> Columns:
        labels = self._tags[:, None]
        return Columns(labels, labels, self.lattice.column, len(labels))


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
        return LinearChain(tag_set.lattice(self.label_pairs), tag_set)

    def of_labels(self, n_labels: int) -> LinearChain:
        """Labels `1 … n_labels` in any order; label 0 stands before the first one."""
        return LinearChain(free_lattice(n_labels, self.label_pairs))

    def of_classes(self, n_classes: int) -> FreeChoice:
        """One class a unit, whatever stands around it."""
        return FreeChoice(choice_lattice(n_classes))

    def size_of_spans(self, scheme: str, n_labels: int) -> tuple[int, int]:
        """`E` and `S` of `of_spans`, without making it; the others likewise."""
        n_edges = TagSet.n_edges(scheme, n_labels)
        n_tags = 1 + n_labels * len(SCHEMES[scheme].prefixes)
        return n_edges, n_edges if self.label_pairs else n_tags

    def size_of_labels(self, n_labels: int) -> tuple[int, int]:
        """`E` and `S` of `of_labels`."""
        n_edges = n_labels * (n_labels + 1)
        return n_edges, n_edges if self.label_pairs else n_labels

    def size_of_classes(self, n_classes: int) -> tuple[int, int]:
        """`E` and `S` of `of_classes`."""
        return n_classes, n_classes

    def identity(self) -> dict[str, bool]:
        """Settings without which saved weights mean something else."""
        return {"label_pairs": self.label_pairs}
