"""Viterbi with many labels and no label pairs, several sequences at a time.

The recursion is that of `dense_viterbi` (`inference.viterbi`), with the same sums, so with the same
bits and ties. `systems.many_labels.products` has the maxima over the block,
`systems.many_labels.lockstep` the batches and their rows, `systems.many_labels.blocks` the places.
"""

from __future__ import annotations

import numpy as np

from ...inference.lattice import Chains
from ...jit import helper, kernel, maker
from ...types import Floats1d, Floats2d, Ints1d
from .blocks import Blocks, BlockWeights, added
from .lockstep import Batch, make_batches, most_rows
from .products import WIDTH, Shape, best_sums, larger


@helper
def _is_better(value, label, best, best_label):  # type: ignore[no-untyped-def]
    """Whether a label is better than the best one so far; ties to the lowest label."""
    return value > best or (value == best and label < best_label)


@helper
def _best_before(blocks, weights, before, place, lowest):  # type: ignore[no-untyped-def]
    """The place that the best path to `place` comes from.

    before: `δ` of the position before. lowest: the place of the lowest label, where none is best.
    """
    n_rows, n_columns = weights.matrix.shape
    origin, best = lowest, -np.inf
    if place < n_columns:
        for p in range(n_rows):
            label = blocks.first_row + p
            value = before[label] + weights.backward[p // WIDTH * n_columns + place, p % WIDTH]
            if _is_better(value, blocks.label[label], best, blocks.label[origin]):
                best, origin = value, label
    for f in range(blocks.first_other[place], blocks.first_other[place + 1]):
        value = before[blocks.source[f]] + weights.others[f]
        if _is_better(value, blocks.label[blocks.source[f]], best, blocks.label[origin]):
            best, origin = value, blocks.source[f]
    return origin


@maker
def _fill(chains, blocks, weights, batch, delta):  # type: ignore[no-untyped-def]
    """Fill `δ` `[K, n]` of all rows."""
    _, scores, _, cost, tags, _ = chains
    n_rows, n_columns = weights.matrix.shape
    n = delta.shape[1]
    for t in range(len(batch.first) - 1):
        begin, end = batch.first[t], batch.first[t + 1]
        if t > 0:
            before = batch.first[t - 1]
            delta[begin:end] = -np.inf
            shape = Shape(before, blocks.first_row, begin, 0, end - begin, n_rows, n_columns)
            best_sums(delta, weights.forward, delta, shape)
        for lane in range(end - begin):
            unit, row = batch.begin[lane] + t, delta[begin + lane]
            of_unit, of_tag = scores[unit], cost[tags[unit] + 1]
            if t == 0:
                for c in range(n):  # A slice takes 3 s to compile.
                    row[c] = weights.initial[c]
            else:
                of_before = delta[batch.first[t - 1] + lane]
                for f in range(len(blocks.source)):
                    reached = of_before[blocks.source[f]] + weights.others[f]
                    row[blocks.target[f]] = larger(reached, row[blocks.target[f]])
            for c in range(n):
                row[c] = row[c] + of_unit[blocks.column[c]] + of_tag[blocks.label[c]]


@kernel
def _best_of_batch(
    chains: Chains,
    blocks: Blocks,
    weights: BlockWeights,
    batch: Batch,
    delta: Floats2d,
    path: Ints1d,
    path_scores: Floats1d,
) -> None:
    """Write the best labels and their score of each lane; delta: room `[K, n]`."""
    _fill(chains, blocks, weights, batch, delta)
    lowest = np.argmin(blocks.label)
    for lane in range(len(batch.sequence)):
        i = batch.sequence[lane]
        begin, end = chains.starts[i], chains.starts[i + 1]
        row = delta[batch.first[end - begin - 1] + lane]
        place = -1
        for c in range(len(row)):
            if blocks.final[c] and (
                place < 0 or _is_better(row[c], blocks.label[c], row[place], blocks.label[place])
            ):
                place = c
        path_scores[i] = row[place]
        path[end - 1] = blocks.label[place]
        for t in range(end - begin - 2, -1, -1):
            before = delta[batch.first[t] + lane]
            place = _best_before(blocks, weights, before, place, lowest)
            path[begin + t] = blocks.label[place]


def block_viterbi(blocks: Blocks, chains: Chains) -> tuple[Ints1d, Floats1d]:
    """As `viterbi.best_labellings`, of a lattice without label pairs; ties to the lowest label."""
    n_sequences = len(chains.starts) - 1
    path, scores = np.empty(len(chains.scores), dtype=np.int32), np.zeros(n_sequences)
    weights, n = added(blocks, chains.transitions), len(blocks.label)
    everything, no_second = np.arange(n_sequences), np.zeros(n_sequences, dtype=np.bool_)
    batches = make_batches(chains.starts, everything, no_second, n)
    delta = np.empty((most_rows(batches), n))
    for batch in batches:
        _best_of_batch(chains, blocks, weights, batch, delta, path, scores)
    return path, scores
