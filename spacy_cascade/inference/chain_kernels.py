"""The kernels of a linear chain: which of them answer for a lattice.

Lattices without label pairs have fewer scores than transitions. For them vectors and matrices
(`inference.dense_losses`) are faster than lists of edges (`inference.chain`); and with many labels
several sequences at a time (`systems.many_labels.lockstep`).
"""

from __future__ import annotations

import numpy as np

from ..rooms import offered
from ..types import Floats1d, Ints1d
from .chain import log_partitions
from .chain_losses import chain_losses
from .choice_losses import choice_losses
from .dense_losses import dense_log_partitions, dense_losses
from .lattice import Chains, Lattice, LossTerms
from .schemes import Spans
from .spans import likely_spans, span_posteriors
from .viterbi import best_labellings

MANY_LABELS = 64
"""From so many score columns on, kernels of a room are asked for, whose last bits may differ."""


class ChainKernels:
    """Kernels for any lattice; they answer as the methods of `LinearChain` do, of chains."""

    def __init__(self, lattice: Lattice) -> None:
        self.lattice, self.transitions_at_once = lattice, 1

    def best(self, chains: Chains) -> tuple[Ints1d, Floats1d]:
        """The best labels `[T]`, and their score for each sequence `[N]`."""
        return best_labellings(chains)

    def log_partitions(self, chains: Chains) -> Floats1d:
        """Of each sequence, float64 `[N]`."""
        values = np.empty(len(chains.starts) - 1)
        log_partitions(chains, values)
        return values

    def margin_partitions(self, chains: Chains) -> Floats1d:
        """As `log_partitions`, as fast as `losses`; the last bits may differ."""
        values = np.empty(len(chains.starts) - 1)
        partitions_of = log_partitions if self.lattice.label_pairs else dense_log_partitions
        partitions_of(chains, values)
        return values

    def span_posteriors(
        self, chains: Chains, labels: Ints1d, spans: Spans, sequences: Ints1d, out: Floats1d
    ) -> None:
        """As `spans.span_posteriors`."""
        span_posteriors(chains, labels, spans, sequences, out)

    def likely_spans(
        self, chains: Chains, labels: Ints1d, least: float, spans: Spans, out: Floats1d
    ) -> int:
        """As `spans.likely_spans`."""
        return likely_spans(chains, labels, least, spans, out)

    def losses(self, chains: Chains, terms: LossTerms) -> Floats1d:
        """The gradient of the transitions `[E]`; losses are written, scores OVERWRITTEN."""
        counts = np.zeros(self.lattice.n_edges)
        losses_of = chain_losses if self.lattice.label_pairs else dense_losses
        losses_of(chains, terms, counts)
        return counts


class ChoiceKernels(ChainKernels):
    """Kernels for one choice among many labels."""

    def losses(self, chains: Chains, terms: LossTerms) -> Floats1d:
        return choice_losses(chains, terms)


def kernels_for(lattice: Lattice) -> ChainKernels:
    """The fastest kernels for a lattice whose score columns are labels or label pairs."""
    is_large = lattice.n_columns >= MANY_LABELS and not lattice.label_pairs
    of_room = offered("chain") if is_large else None
    kernels: ChainKernels = (of_room or ChainKernels)(lattice)
    return kernels
