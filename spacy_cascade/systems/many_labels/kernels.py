"""The kernels of chains with many labels; what the core finds under the name `chain`."""

from __future__ import annotations

from ...inference.chain_kernels import ChainKernels
from ...inference.lattice import Chains, Lattice, LossTerms
from ...inference.schemes import Spans
from ...types import Floats1d, Ints1d
from .block_losses import block_log_partitions, block_losses
from .block_spans import block_likely_spans, block_span_posteriors
from .block_viterbi import block_viterbi
from .blocks import blocks_of

_AT_ONCE = 128
_MOST_STEPS = 1024
"""Of a unit in the sense of `Structure.transitions_at_once`: two thousand units are a piece."""


class BlockKernels(ChainKernels):
    """Kernels for many labels without label pairs."""

    def __init__(self, lattice: Lattice) -> None:
        super().__init__(lattice)
        self.blocks = blocks_of(lattice)
        # Each piece makes the transitions ready, so it needs many units where these are many.
        self.transitions_at_once = max(_AT_ONCE, lattice.n_edges // _MOST_STEPS)

    def best(self, chains: Chains) -> tuple[Ints1d, Floats1d]:
        """As `ChainKernels.best`, several sequences at a time."""
        return block_viterbi(self.blocks, chains)

    def log_partitions(self, chains: Chains) -> Floats1d:
        """As `ChainKernels.log_partitions`, several sequences at a time."""
        return block_log_partitions(self.blocks, chains)

    margin_partitions = log_partitions

    def span_posteriors(
        self, chains: Chains, labels: Ints1d, spans: Spans, sequences: Ints1d, found: Floats1d
    ) -> None:
        block_span_posteriors(self.blocks, chains, labels, spans, sequences, found)

    def likely_spans(
        self, chains: Chains, labels: Ints1d, least: float, spans: Spans, found: Floats1d
    ) -> int:
        return block_likely_spans(self.blocks, chains, labels, least, spans, found)

    def losses(self, chains: Chains, terms: LossTerms) -> Floats1d:
        return block_losses(self.blocks, chains, terms)
