"""Losses and log-partitions of chains with many labels, several sequences at a time.

The equations are those of `inference.dense_losses`, and `systems.many_labels.lockstep` makes the
steps. The gradient of the block is a product of two matrices, over the positions of all sequences:

    Σ_t P(p at t-1, c at t) = M[p, c] Σ_t a(t-1, p) g(t, c)      g(t, c) = x(t, c) b(t, c) / z(t)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...inference.chain import count_observed, log_partitions
from ...inference.chain_losses import chain_losses, observed_edges
from ...inference.lattice import Chains, LossTerms
from ...jit import kernel
from ...types import Floats1d, Floats2d, Ints1d, Pointers1d
from .blocks import Blocks, BlockWeights, multiplied
from .lockstep import Batch, Rows, add_marginals, backward, log_sums, make_batches, summed
from .products import WIDTH, Shape, add_products

_AT_ONCE = 128
"""Positions of a product of matrices for the gradient of the block."""


@kernel
def _observed_paths(
    chains: Chains, n_observed: Pointers1d, edges: Ints1d, values: Floats1d
) -> None:
    """Write how many units of each sequence are observed `[N]`.

    And, of sequences of which all are, the transitions of the path `[T]` and its score `[N]`.
    """
    starts = chains.starts
    for i in range(len(n_observed)):
        begin, end = starts[i], starts[i + 1]
        n_observed[i] = count_observed(chains.tags, begin, end)
        if n_observed[i] == end - begin:
            values[i] = observed_edges(chains, i, edges[begin - starts[0] : end - starts[0]])


@kernel
def _add_pairs(blocks: Blocks, batch: Batch, rows: Rows, pairs: Floats2d, others: Floats1d) -> None:
    """Add `Σ_t a(t-1, p) g(t, c)` to `pairs` `[R, C]`, and to `others` `[F]`."""
    a, x, b, z = rows.a, rows.x, rows.b, rows.z
    n_rows, n_columns = pairs.shape
    n_tiles, end = -(-n_columns // WIDTH), len(z)
    # Rows whose distance is a power of two would push each other out of the cache.
    left, tiles = np.empty((n_rows, _AT_ONCE + 4)), np.zeros((n_tiles * _AT_ONCE, WIDTH))
    g, t = np.empty(a.shape[1]), 1
    for begin in range(batch.first[1], end, _AT_ONCE):
        size = min(_AT_ONCE, end - begin)
        for k in range(size):
            row = begin + k
            while row >= batch.first[t + 1]:
                t += 1
            before, own, later = a[batch.first[t - 1] + row - batch.first[t]], x[row], b[row]
            for c in range(len(g)):
                g[c] = own[c] * (later[c] / z[row])
            for p in range(n_rows):
                left[p, k] = before[blocks.first_row + p]
            for c in range(n_columns):
                tiles[c // WIDTH * size + k, c % WIDTH] = g[c]
            for f in range(len(others)):
                others[f] += before[blocks.source[f]] * g[blocks.target[f]]
        add_products(left, tiles, pairs, Shape(0, 0, 0, 0, n_rows, size, n_columns))


def block_losses(blocks: Blocks, chains: Chains, terms: LossTerms) -> Floats1d:
    """As `chain_losses.chain_losses`, of a lattice without label pairs; scores are OVERWRITTEN.

    Returns the gradient of the transitions `[E]`.
    """
    clamp, shares, first, last, losses = terms
    starts, scores = chains.starts[first : last + 1], chains.scores
    chains, n_units = chains._replace(starts=starts), np.diff(starts)
    expected, observed = (of_all[first:last] for of_all in shares)
    n_observed, edges = np.zeros_like(starts[1:]), np.full(n_units.sum(), -1, dtype=np.int32)
    everything, agreeing = np.zeros((2, len(n_units)))
    _observed_paths(chains, n_observed, edges, agreeing)
    asked, is_partial = np.flatnonzero(n_observed), (n_observed > 0) & (n_observed < n_units)
    is_lost = np.zeros(len(n_units), dtype=np.bool_)
    weights, shift = multiplied(blocks, chains.transitions)
    batches = make_batches(starts, asked, is_partial, len(blocks.label))
    counts, room = _Counts.of(blocks), Rows.for_all(batches, len(blocks.label))
    for batch in batches:
        rows = room.of(batch)
        values = log_sums(chains, clamp, blocks, weights, shift, batch, rows)
        is_second, of_lane = batch.is_clamped, batch.sequence
        everything[of_lane[~is_second]] = values[~is_second]
        agreeing[of_lane[is_second]] = values[is_second]
        is_lost[of_lane[values == -np.inf]] = True
        is_taken = ~is_lost[of_lane]
        factors = np.where(is_second, -observed[of_lane], expected[of_lane])
        backward(blocks, weights, batch, rows, np.where(is_taken, factors, 0.0))
        _clear(scores, starts, of_lane[is_taken & ~is_second])
        add_marginals(blocks, batch, is_taken, rows, scores)
        counts.add(blocks, batch, rows)
    _clear(scores, starts, np.flatnonzero(n_observed == 0))
    losses[first:last] = np.where(is_lost, 0.0, everything) - np.where(is_lost, 0.0, agreeing)
    of_transitions = counts.of_transitions(blocks, weights, len(chains.transitions))
    is_path = np.repeat((n_observed == n_units) & ~is_lost, n_units) & (edges >= 0)
    taken, paths = np.repeat(observed, n_units)[is_path], edges[is_path]
    scores[starts[0] + np.flatnonzero(is_path), chains.lattice.column[paths]] -= taken
    of_transitions -= np.bincount(paths, taken, len(of_transitions))
    for i in np.flatnonzero(is_lost).tolist():
        alone = LossTerms(clamp, (expected, observed), i, i + 1, losses[first:last])
        chain_losses(chains, alone, of_transitions)
    return of_transitions


@dataclass
class _Counts:
    """Sums of products: of first places `[n]`, of the block `[R, C]` and of the others `[F]`."""

    initial: Floats1d
    pairs: Floats2d
    others: Floats1d

    @classmethod
    def of(cls, blocks: Blocks) -> _Counts:
        """None yet."""
        pairs, n, n_others = blocks.block.shape, len(blocks.label), len(blocks.edge)
        return cls(np.zeros(n), np.zeros(pairs), np.zeros(n_others))

    def add(self, blocks: Blocks, batch: Batch, rows: Rows) -> None:
        """Those of a batch."""
        n_lanes = batch.first[1]
        self.initial += (rows.a[:n_lanes] * rows.b[:n_lanes]).sum(axis=0)
        _add_pairs(blocks, batch, rows, self.pairs, self.others)

    def of_transitions(self, blocks: Blocks, weights: BlockWeights, n_edges: int) -> Floats1d:
        """Expected numbers of each transition `[E]`."""
        # The last one is for places where there is no transition.
        found = np.zeros(n_edges + 1)
        found[blocks.block] = self.pairs * weights.matrix
        found[blocks.edge] = self.others * weights.others
        found[blocks.initial] += self.initial
        return found[:n_edges]


def _clear(scores: Floats2d, starts: Pointers1d, sequences: Pointers1d) -> None:
    for i in sequences.tolist():
        scores[starts[i] : starts[i + 1]] = 0.0


def block_log_partitions(blocks: Blocks, chains: Chains) -> Floats1d:
    """As `chain.log_partitions`, of a lattice without label pairs `[N]`."""
    found = np.zeros(len(chains.starts) - 1)
    weights, shift = multiplied(blocks, chains.transitions)
    for batch, _, values in summed(blocks, chains, weights, shift, np.arange(len(found))):
        found[batch.sequence] = values
    for i in np.flatnonzero(found == -np.inf).tolist():
        log_partitions(chains._replace(starts=chains.starts[i : i + 2]), found[i : i + 1])
    return found
