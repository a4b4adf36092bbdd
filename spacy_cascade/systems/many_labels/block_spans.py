"""Posteriors of spans, and all likely spans, of chains with many labels.

As `inference.spans`, with `a`, `x`, `b`, `z` and `g` of `systems.many_labels.lockstep`. A span is
entered and left by transitions of the block, and goes on by the others. So with labels `y` at `t …
e - 1` it has the probability

    Σ_p a(t-1, p) M[p, y(t)] · Π_u x(u, y(u)) / z(u) · Π_u M[y(u-1), y(u)]
        · Σ_c M[y(e-1), c] g(e, c)

All spans that end at `e` are found on the way back, by the share of `a(t, y)` that came by each
transition. A sequence that has to be computed in log space is left to `inference.spans`.
"""

from __future__ import annotations

import numpy as np

from ...inference.lattice import Chains
from ...inference.schemes import Spans
from ...inference.spans import likely_spans, span_posteriors
from ...jit import helper, kernel
from ...types import Bools1d, Floats1d, Floats2d, Ints1d, Pointers1d
from .blocks import Blocks, BlockWeights, multiplied
from .lockstep import Batch, Rows, backward, leaving, summed


@helper
def _entering(blocks, weights, batch, rows, lane, t, y):  # type: ignore[no-untyped-def]
    """Probability, given what stands before, of a span that begins with place `y` at `t`."""
    row = batch.first[t] + lane
    if t == 0:
        return rows.a[row, y]
    n_rows, n_columns = weights.matrix.shape
    before, total = rows.a[batch.first[t - 1] + lane], 0.0
    if y < n_columns:
        for p in range(n_rows):
            total += before[blocks.first_row + p] * weights.matrix[p, y]
    return total * rows.x[row, y] / rows.z[row]


@helper
def _leaving(blocks, weights, batch, rows, lane, t, y):  # type: ignore[no-untyped-def]
    """What the rest multiplies with if a span ends with place `y` at `t`."""
    if t + 2 == len(batch.first) or lane >= batch.first[t + 2] - batch.first[t + 1]:
        return rows.b[batch.first[t] + lane, y]
    n_rows, n_columns = weights.matrix.shape
    row, p = batch.first[t + 1] + lane, y - blocks.first_row
    total = 0.0
    if 0 <= p < n_rows:
        for c in range(n_columns):
            total += weights.matrix[p, c] * rows.x[row, c] * rows.b[row, c]
    return total / rows.z[row]


@helper
def _going_on(blocks, weights, previous, y):  # type: ignore[no-untyped-def]
    """The weight of the transition inside of a span, 0 where there is none."""
    for f in range(blocks.first_other[y], blocks.first_other[y + 1]):
        if blocks.source[f] == previous:
            return weights.others[f]
    return 0.0


@kernel
def _posteriors(
    blocks: Blocks,
    weights: BlockWeights,
    batch: Batch,
    rows: Rows,
    places: Ints1d,
    spans: Spans,
    bounds: Pointers1d,
    posteriors: Floats1d,
) -> None:
    """Write the posteriors of the spans of a batch; places `[T]`: of the labels that they have.

    bounds `[N + 1]`: spans `bounds[i]:bounds[i + 1]` are those of sequence `i`.
    """
    for lane in range(len(batch.sequence)):
        origin, i = batch.begin[lane], batch.sequence[lane]
        for k in range(bounds[i], bounds[i + 1]):
            start, last = spans.start[k] - origin, spans.end[k] - origin - 1
            y = places[origin + start]
            mass = _entering(blocks, weights, batch, rows, lane, start, y)
            for t in range(start + 1, last + 1):
                previous, y, row = y, places[origin + t], batch.first[t] + lane
                mass *= _going_on(blocks, weights, previous, y) * rows.x[row, y] / rows.z[row]
            mass *= _leaving(blocks, weights, batch, rows, lane, last, y)
            posteriors[k] = min(1.0, mass)


def block_span_posteriors(
    blocks: Blocks, chains: Chains, path: Ints1d, spans: Spans, sequences: Ints1d,
    posteriors: Floats1d,
) -> None:  # fmt: skip
    """As `spans.span_posteriors`, of a lattice without label pairs."""
    place = np.zeros(chains.lattice.n_labels, dtype=np.int32)
    place[blocks.label] = np.arange(len(blocks.label))
    bounds = np.searchsorted(sequences, np.arange(len(chains.starts)))
    is_lost = np.zeros(len(chains.starts), dtype=np.bool_)
    (weights, shift), own = multiplied(blocks, chains.transitions), np.unique(sequences)
    for batch, rows, values in summed(blocks, chains, weights, shift, own.astype(np.int64)):
        is_taken = values > -np.inf
        is_lost[batch.sequence[~is_taken]] = True
        backward(blocks, weights, batch, rows, is_taken.astype(np.float64))
        _posteriors(blocks, weights, batch, rows, place[path], spans, bounds, posteriors)
    lost = np.flatnonzero(is_lost[sequences])
    if len(lost):
        those = Spans(spans.start[lost], spans.end[lost], spans.label[lost])
        in_log_space = np.empty(len(lost))
        span_posteriors(chains, path, those, sequences[lost], in_log_space)
        posteriors[lost] = in_log_space


@helper
def _shares(blocks, weights, batch, rows, lane, t, shares):  # type: ignore[no-untyped-def]
    """Fill `shares` `[F]`: which part of `a(t, y)` each transition inside of spans brought."""
    if t == 0:
        shares[:] = 0.0
        return
    row, before = batch.first[t] + lane, rows.a[batch.first[t - 1] + lane]
    for f in range(len(shares)):
        y = blocks.target[f]
        arrived, share = rows.a[row, y] * rows.z[row], 0.0
        if arrived > 0.0:
            share = before[blocks.source[f]] * weights.others[f] * rows.x[row, y] / arrived
        shares[f] = min(1.0, share)


@helper
def _beginning(blocks, shares, mass, n_columns, span_labels, found):  # type: ignore[no-untyped-def]
    """Fill `found` `[L]` with the probabilities of the spans that begin here: by the block."""
    found[:] = 0.0
    for y in range(n_columns):
        if span_labels[y] >= 0:
            share = 1.0
            for f in range(blocks.first_other[y], blocks.first_other[y + 1]):
                share -= shares[f]
            found[span_labels[y]] += mass[y] * max(0.0, share)


@helper
def _write_likely(found, least, start, end, n_found, spans, posteriors):  # type: ignore[no-untyped-def]
    """Add the spans `[start, end)` that are likely; how many there are then."""
    for label in range(len(found)):
        if found[label] >= least:
            if n_found < len(posteriors):
                spans.start[n_found], spans.end[n_found] = start, end
                spans.label[n_found] = label
                posteriors[n_found] = min(1.0, found[label])
            n_found += 1
    return n_found


@kernel
def _likely_of_batch(
    blocks: Blocks,
    weights: BlockWeights,
    batch: Batch,
    rows: Rows,
    after: Floats2d,
    is_taken: Bools1d,
    span_labels: Ints1d,
    least: float,
    n_found: int,
    spans: Spans,
    posteriors: Floats1d,
) -> int:
    """Add the likely spans of the lanes that are taken `[L]`; `n_found`, and how many are there.

    after: of `leaving`. span_labels `[n]`: of places. Written as `spans.likely_spans` does, lane
    by lane.
    """
    n, n_columns = len(span_labels), weights.matrix.shape[1]
    mass, before = np.empty(n), np.empty(n)
    found, shares = np.empty(max(span_labels) + 1), np.empty(len(blocks.source))
    for lane in np.flatnonzero(is_taken):
        origin = batch.begin[lane]
        for last in range(len(batch.first) - 1):
            row = batch.first[last] + lane
            if row >= batch.first[last + 1]:
                break
            for y in range(n):
                mass[y] = rows.a[row, y] * after[row, y] if span_labels[y] >= 0 else 0.0
            t = last
            while t >= 0 and mass.sum() >= least:
                _shares(blocks, weights, batch, rows, lane, t, shares)
                _beginning(blocks, shares, mass, n_columns, span_labels, found)
                start, end = origin + t, origin + last + 1
                n_found = _write_likely(found, least, start, end, n_found, spans, posteriors)
                before[:] = 0.0
                for f in range(len(shares)):
                    before[blocks.source[f]] += mass[blocks.target[f]] * shares[f]
                mass, before = before, mass
                t -= 1
    return n_found


def block_likely_spans(
    blocks: Blocks,
    chains: Chains,
    span_labels: Ints1d,
    least: float,
    spans: Spans,
    posteriors: Floats1d,
) -> int:
    """As `spans.likely_spans`, of a lattice without label pairs, but sequences are in any order."""
    weights, shift = multiplied(blocks, chains.transitions)
    own, n_found, after = np.arange(len(chains.starts) - 1), 0, np.empty((0, len(blocks.label)))
    for batch, rows, values in summed(blocks, chains, weights, shift, own):
        is_taken = values > -np.inf
        backward(blocks, weights, batch, rows, is_taken.astype(np.float64))
        # The first batch need not be the largest.
        after = after if len(after) >= len(rows.z) else np.empty_like(rows.b)
        leaving(blocks, weights, batch, rows, after)
        n_found = _likely_of_batch(
            blocks, weights, batch, rows, after, is_taken, span_labels[blocks.label], least,
            n_found, spans, posteriors,
        )  # fmt: skip
        for i in batch.sequence[~is_taken].tolist():
            rest = slice(min(n_found, len(posteriors)), None)
            room = Spans(spans.start[rest], spans.end[rest], spans.label[rest])
            alone = chains._replace(starts=chains.starts[i : i + 2])
            n_found += likely_spans(alone, span_labels, least, room, posteriors[rest])
    return n_found
