"""Forward and backward over several sequences in lock step, for lattices with many labels.

The equations are those of `inference.dense_losses`. With hundreds of labels the matrix `M` does not
fit into the caches near the processor. So a step is made for several sequences at once, the longest
first: what is read of `M` serves all of them (`systems.many_labels.products`). Of `M` only the
block is a matrix (`systems.many_labels.blocks`).

A *lane* is a sequence with one of the two costs. Arrays of a batch of lanes have a row for each of
their positions: lane `l` at `t` has row `first[t] + l`. Their columns are places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...inference.lattice import Chains
from ...jit import helper, kernel
from ...types import Bools1d, Floats1d, Floats2d, Pointers1d
from .blocks import Blocks, BlockWeights
from .products import Shape, add_products

_ENTRIES = 1 << 19
"""Of an array of a batch, four megabytes, or of `_ROWS` if these have more."""
_ROWS = 512
"""Of a batch at least, so that about twenty sentences share what is read of `M`."""
_SMALLEST = 1e-60
"""Of `z`; doubles go down to 1e-308."""


class Batch(NamedTuple):
    """Lanes in descending order of their lengths, as kernels take them.

    sequence: int64 `[L]`. is_clamped: bool `[L]`, whether the cost is that of the second sum.
    first: int64 `[T + 1]`, first row of each step. begin: int64 `[L]`, the sequence's first unit.
    """

    sequence: Pointers1d
    is_clamped: Bools1d
    first: Pointers1d
    begin: Pointers1d

    @property
    def lane(self) -> Pointers1d:
        """Of each row, int64 `[K]`."""
        n_lanes = np.diff(self.first)
        return np.arange(self.first[-1]) - np.repeat(self.first[:-1], n_lanes)


class Rows(NamedTuple):
    """Room for a batch: `a`, `x`, `b` `[K, n]` and `z`, `h` `[K]`."""

    a: Floats2d
    x: Floats2d
    b: Floats2d
    z: Floats1d
    h: Floats1d

    @classmethod
    def for_all(cls, batches: Sequence[Batch], width: int) -> Rows:
        """Room for any of the batches, `width` places wide: new memory takes time."""
        n_rows = most_rows(batches)
        a, x, b = np.empty((3, n_rows, width))
        return cls(a, x, b, np.empty(n_rows), np.empty(n_rows))

    def of(self, batch: Batch) -> Rows:
        """The part for one batch."""
        own = slice(batch.first[-1])
        return Rows(self.a[own], self.x[own], self.b[own], self.z[own], self.h[own])


def most_rows(batches: Sequence[Batch]) -> int:
    """Of a batch."""
    return max((int(batch.first[-1]) for batch in batches), default=0)


def make_batches(
    starts: Pointers1d, sequences: Pointers1d, is_partial: Bools1d, width: int
) -> list[Batch]:
    """The lanes of some sequences, batch by batch; sequences without units have none.

    is_partial `[N]`: which sequences have a second lane, in the same batch, for the second sum.
    width: of a row.
    """
    lengths = np.diff(starts)
    sequences = sequences[lengths[sequences] > 0]
    sequences = sequences[np.argsort(-lengths[sequences], kind="stable")]
    rows = np.cumsum(lengths[sequences] * (1 + is_partial[sequences]))
    done, most, found = 0, max(_ROWS, _ENTRIES // width), []
    while done < len(sequences):
        before = rows[done - 1] if done else 0
        end = max(done + 1, int(np.searchsorted(rows, before + most, side="right")))
        found.append(_batch(starts, sequences[done:end], is_partial))
        done = end
    return found


def _batch(starts: Pointers1d, sequences: Pointers1d, is_partial: Bools1d) -> Batch:
    clamped = sequences[is_partial[sequences]]
    lanes = np.concatenate([sequences, clamped])
    is_clamped = np.arange(len(lanes)) >= len(sequences)
    lengths = starts[lanes + 1] - starts[lanes]
    # Stable, so the first lane of a sequence stays before its second one.
    order = np.argsort(-lengths, kind="stable")
    lanes, lengths = lanes[order], lengths[order]
    n_lanes = np.searchsorted(-lengths, -np.arange(lengths[0]), side="left")
    first = np.append(0, np.cumsum(n_lanes))
    return Batch(lanes, is_clamped[order], first, starts[lanes])


def log_sums(
    chains: Chains, clamp: Floats2d, blocks: Blocks, weights: BlockWeights, shift: float,
    batch: Batch, rows: Rows,
) -> Floats1d:  # fmt: skip
    """The log-partition of each lane `[L]`, -inf where a `z` is tiny; fills all but `b`.

    clamp: the cost of the second lanes.
    """
    shifted_scores(chains, clamp, blocks, weights.initial, batch, rows.x, rows.h)
    np.exp(rows.x, out=rows.x)
    is_lost = np.zeros(len(batch.sequence), dtype=np.bool_)
    forward(blocks, weights, batch, rows, is_lost)
    logs = np.log(rows.z) + rows.h
    logs[batch.first[1] :] += shift
    log_partitions = np.bincount(batch.lane, logs).astype(np.float64, copy=False)
    log_partitions[is_lost] = -np.inf
    return log_partitions


def summed(
    blocks: Blocks, chains: Chains, weights: BlockWeights, shift: float, sequences: Pointers1d
) -> Iterator[tuple[Batch, Rows, Floats1d]]:
    """Batches of sequences, one lane each, with what `log_sums` gives."""
    no_second, n = np.zeros(len(chains.starts) - 1, dtype=np.bool_), len(blocks.label)
    batches = make_batches(chains.starts, sequences, no_second, n)
    room = Rows.for_all(batches, n)
    for batch in batches:
        rows = room.of(batch)
        yield batch, rows, log_sums(chains, chains.cost, blocks, weights, shift, batch, rows)


@kernel
def shifted_scores(
    chains: Chains, clamp: Floats2d, blocks: Blocks, initial: Floats1d, batch: Batch, x: Floats2d,
    h: Floats1d,
) -> None:  # fmt: skip
    """Fill `x` with `s(t, c) + cost(t, c) - h(t)`, and `h` with the largest of the former.

    The first position has the transition from the start, too; the last one -inf off final labels.
    """
    _, scores, _, cost, tags, starts = chains
    n = len(initial)
    for t in range(len(batch.first) - 1):
        for lane in range(batch.first[t + 1] - batch.first[t]):
            unit, row = batch.begin[lane] + t, batch.first[t] + lane
            of_unit, out = scores[unit], x[row]
            of_tag = (clamp if batch.is_clamped[lane] else cost)[tags[unit] + 1]
            is_last = unit + 1 == starts[batch.sequence[lane] + 1]
            highest = -np.inf
            for c in range(n):
                value = of_unit[blocks.column[c]] + of_tag[blocks.label[c]]
                if t == 0:
                    value += initial[c]
                if is_last and not blocks.final[c]:
                    value = -np.inf
                out[c] = value
                highest = max(highest, value)
            # Minus infinity less itself has no value; zeros are found to be lost.
            h[row] = highest if highest > -np.inf else 0.0
            for c in range(n):
                out[c] -= h[row]


@kernel
def forward(
    blocks: Blocks, weights: BlockWeights, batch: Batch, rows: Rows, is_lost: Bools1d
) -> None:
    """Fill `a` and `z`; a lane with a tiny `z` is marked `[L]`, and from there `a = x = 0`."""
    a, x, z = rows.a, rows.x, rows.z
    n_rows, n_columns = weights.matrix.shape
    n = a.shape[1]
    for t in range(len(batch.first) - 1):
        begin, end = batch.first[t], batch.first[t + 1]
        if t == 0:
            a[begin:end] = 1.0
        else:
            before = batch.first[t - 1]
            a[begin:end] = 0.0
            shape = Shape(before, blocks.first_row, begin, 0, end - begin, n_rows, n_columns)
            add_products(a, weights.forward, a, shape)
            for lane in range(end - begin):
                for f in range(len(blocks.source)):
                    reached = a[before + lane, blocks.source[f]] * weights.others[f]
                    a[begin + lane, blocks.target[f]] += reached
        for row in range(begin, end):
            total, of_row, own = 0.0, a[row], x[row]
            for c in range(n):
                of_row[c] *= own[c]
                total += of_row[c]
            # The negation holds for what is no number, too.
            if not total > _SMALLEST:
                is_lost[row - begin] = True
                of_row[:] = 0.0
                own[:] = 0.0
                total = 1.0
            z[row] = total
            for c in range(n):
                of_row[c] /= total


@helper
def _fill_g(rows, after, n_lanes, g):  # type: ignore[no-untyped-def]
    """Fill `g` `[L, n]` of the lanes that have a row from `after` on."""
    for lane in range(n_lanes):
        of_next, later, out = rows.x[after + lane], rows.b[after + lane], g[lane]
        for c in range(len(out)):
            out[c] = of_next[c] * (later[c] / rows.z[after + lane])


@kernel
def backward(
    blocks: Blocks, weights: BlockWeights, batch: Batch, rows: Rows, factors: Floats1d
) -> None:
    """Fill `b`, times a factor for each lane `[L]`."""
    b, n_steps = rows.b, len(batch.first) - 1
    n_rows, n_columns = weights.matrix.shape
    g = np.empty((len(batch.sequence), b.shape[1]))
    for t in range(n_steps - 1, -1, -1):
        begin, after = batch.first[t], batch.first[t + 1]
        n_lanes = batch.first[t + 2] - after if t + 1 < n_steps else 0
        for row in range(begin, after):
            b[row, :] = factors[row - begin] if row - begin >= n_lanes else 0.0
        if n_lanes > 0:
            _fill_g(rows, after, n_lanes, g)
            shape = Shape(0, 0, begin, blocks.first_row, n_lanes, n_columns, n_rows)
            add_products(g, weights.backward, b, shape)
        for lane in range(n_lanes):
            for f in range(len(blocks.source)):
                b[begin + lane, blocks.source[f]] += weights.others[f] * g[lane, blocks.target[f]]


@kernel
def leaving(blocks: Blocks, weights: BlockWeights, batch: Batch, rows: Rows, out: Floats2d) -> None:
    """Fill `out` `[K, n]` with the part of `b` through the block; all of it where a lane ends."""
    n_rows, n_columns = weights.matrix.shape
    n_steps, g = len(batch.first) - 1, np.empty((len(batch.sequence), out.shape[1]))
    for t in range(n_steps):
        begin, after = batch.first[t], batch.first[t + 1]
        n_lanes = batch.first[t + 2] - after if t + 1 < n_steps else 0
        for row in range(begin, after):
            for c in range(out.shape[1]):
                out[row, c] = rows.b[row, c] if row - begin >= n_lanes else 0.0
        if n_lanes > 0:
            _fill_g(rows, after, n_lanes, g)
            shape = Shape(0, 0, begin, blocks.first_row, n_lanes, n_columns, n_rows)
            add_products(g, weights.backward, out, shape)


@kernel
def add_marginals(
    blocks: Blocks, batch: Batch, is_taken: Bools1d, rows: Rows, out: Floats2d
) -> None:
    """Add `a(t, c) b(t, c)` of the lanes that are taken `[L]` to `out` `[T, S]`."""
    n = len(blocks.column)
    for t in range(len(batch.first) - 1):
        for row in range(batch.first[t], batch.first[t + 1]):
            lane = row - batch.first[t]
            if is_taken[lane]:
                a, b, of_unit = rows.a[row], rows.b[row], out[batch.begin[lane] + t]
                for c in range(n):
                    of_unit[blocks.column[c]] += a[c] * b[c]
