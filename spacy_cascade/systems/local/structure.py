"""The maximum entropy Markov model: a linear chain whose transitions are normalised locally.

Training sees one decision a token, after the label that is known to stand before. What is found is
the best product of these decisions, and all probabilities are of this product. With the score
`s(t, e)` of edge `e` at position `t` (`inference.chain`), the decision after label `p` gives the
label at the end of edge `e` the probability

    P(target(e) | p, t) = exp(s(t, e)) / Σ_{e' from p} exp(s(t, e'))

where the sum is over the edges that exist there: at the last position of a sequence, those to final
labels. So the probabilities of all labellings sum to 1. (docs/method.md, section 2.11)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from thinc.api import Model

from ...checks import configured
from ...features.templates import Templates
from ...features.units import Units
from ...inference.lattice import Chains, Lattice, LossTerms, free_lattice
from ...inference.linear_chain import ChainFamily, LinearChain
from ...inference.schemes import TagSet
from ...inference.structure import Costs, Online, Part, Paths, Potentials, Shares
from ...jit import helper, kernel
from ...scorers.linear import make_linear_model
from ...types import Floats1d, Floats2d, Ints1d


@helper
def _decide(chains, t, is_last, edges, cost_row, found):  # type: ignore[no-untyped-def]
    """Fill `found` `[E]` with `log P` of some edges, all of one label; the logarithm of their sum.

    cost_row `[Y]`: what is added to the score of each label.
    """
    lattice = chains.lattice
    highest = -np.inf
    for e in edges:
        target = lattice.target[e]
        found[e] = chains.scores[t, lattice.column[e]] + chains.transitions[e] + cost_row[target]
        if is_last and not lattice.final[target]:
            found[e] = -np.inf
        highest = max(highest, found[e])
    if highest == -np.inf:
        return highest
    total = 0.0
    for e in edges:
        total += math.exp(found[e] - highest)
    log_sum = highest + math.log(total)
    for e in edges:
        found[e] -= log_sum
    return log_sum


@kernel
def local_scores(chains: Chains, first_from: Ints1d, edges: Ints1d, found: Floats2d) -> None:
    """`log P(target(e) | source(e), t)` of every edge; observations do not count.

    first_from: int32 `[Y + 1]`; `edges[first_from[y]:first_from[y + 1]]` lead away from `y`.
    found `[T, E]`: written, `-inf` for edges that do not exist at the end of a sequence.
    """
    nothing = np.zeros(len(first_from) - 1)
    for i in range(len(chains.starts) - 1):
        begin, end = chains.starts[i], chains.starts[i + 1]
        for t in range(begin, end):
            for y in range(len(first_from) - 1):
                of_label = edges[first_from[y] : first_from[y + 1]]
                _decide(chains, t, t == end - 1, of_label, nothing, found[t])


@kernel
def local_losses(
    chains: Chains,
    first_from: Ints1d,
    edges: Ints1d,
    terms: LossTerms,
    transition_counts: Floats1d,
) -> None:
    """Losses and score gradients of the sequences `first <= i < last`.

        loss[i] = Σ_t log Σ_{e from y(t-1)} exp(s(t, e) + cost(target(e)))
                  - log Σ_{e from y(t-1), agrees with tags[t]} exp(s(t, e))

    with the observed label `y(t-1)`; where it is not known, the decision teaches nothing.

    first_from, edges: as for `local_scores`. `chains.scores` are OVERWRITTEN by the gradient with
    respect to them. transition_counts `[E]`: added to.
    """
    lattice, scores, _, cost, tags, starts = chains
    clamp, (expected, observed_share), first, last, losses = terms
    every, agreeing = np.empty(len(edges)), np.empty(len(edges))
    for i in range(first, last):
        begin, end = starts[i], starts[i + 1]
        previous, loss = lattice.start, 0.0
        for t in range(begin, end):
            of_label = edges[:0]
            if previous >= 0:
                of_label = edges[first_from[previous] : first_from[previous + 1]]
                observed = tags[t] + 1
                loss += _decide(chains, t, t == end - 1, of_label, cost[observed], every)
                loss -= _decide(chains, t, t == end - 1, of_label, clamp[observed], agreeing)
            scores[t] = 0.0
            for e in of_label:
                of_edge = expected[i] * math.exp(every[e])
                of_edge -= observed_share[i] * math.exp(agreeing[e])
                scores[t, lattice.column[e]] += of_edge
                transition_counts[e] += of_edge
            previous = tags[t]
        losses[i] = loss


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


@configured
def make_local_chain(templates: Templates, min_count: int = 5) -> Model[Units, Floats2d]:
    """A maximum entropy Markov model: a linear chain whose transitions are normalised locally.

    templates: what features look at; all are combined with the pair (previous label, label).
    min_count: features in fewer tokens are dropped.
    """
    return make_linear_model("cascade_local_chain", templates, min_count, LocalFamily())
