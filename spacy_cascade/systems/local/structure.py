"""The linear chain whose transitions are normalised locally: a maximum entropy Markov model.

Training sees one decision a token, after the label that is known to stand before. What is found is
the best product of these decisions, and all probabilities are of this product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...inference.lattice import Lattice, free_lattice
from ...inference.linear_chain import ChainFamily, LinearChain
from ...inference.schemes import TagSet
from ...inference.structure import Costs, Online, Part, Paths, Potentials, Shares
from ...types import Floats1d
from .scores import local_losses, local_scores


class LocalChain(LinearChain):
    """Labels that are chosen one after the other, each with probabilities given the one before.

    Features see label pairs, so that each decision has scores of its own.
    """

    is_local = True

    path_scores = Paths.path_scores
    learn_online = Online.learn_online
    cut = Online.cut

    def __init__(self, lattice: Lattice, tag_set: TagSet | None = None) -> None:
        assert lattice.label_pairs, "a decision needs scores of its own"
        super().__init__(lattice, tag_set)
        order = np.argsort(lattice.source, kind="stable")
        self._edges = order.astype(np.int32)
        bounds = np.searchsorted(lattice.source[order], np.arange(self.n_labels + 1))
        self._first_from = bounds.astype(np.int32)

    def normalised(self, potentials: Potentials) -> Potentials:
        """Logarithms of the probabilities of decisions `[T, E]`, with transitions of 0."""
        found = np.full(potentials.scores.shape, -np.inf)
        local_scores(self._chains(potentials), self._first_from, self._edges, found)
        return potentials.with_scored([found], np.zeros(self.n_transitions))

    def losses(self, part: Part, costs: Costs, shares: Shares | None = None) -> Floats1d:
        """Sums over both terms are those of single decisions, given the observed label before."""
        counts = np.zeros(self.n_transitions)
        chains = self._chains(part.potentials, costs.margin, part.observed)
        terms = part.terms(costs, shares)
        local_losses(chains, self._first_from, self._edges, terms, counts)
        return counts


@dataclass(frozen=True)
class LocalFamily(ChainFamily):
    """The locally normalised chains that a model can be, whatever its labels."""

    label_pairs: bool = True

    structure: ClassVar[type[LinearChain]] = LocalChain

    def of_spans(self, tag_set: TagSet) -> LocalChain:
        return LocalChain(tag_set.lattice(self.label_pairs), tag_set)

    def of_labels(self, n_labels: int) -> LocalChain:
        return LocalChain(free_lattice(n_labels, self.label_pairs))
