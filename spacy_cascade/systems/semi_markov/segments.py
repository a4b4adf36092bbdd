"""Sums over the segmentations of a sequence: the kernels of the semi-Markov structure.

A segmentation divides a sequence into segments: tokens outside, and spans of up to `L` tokens. It
is written as the tags that a scheme gives it, and its score is that of the chain of these tags
(`inference.chain`), which includes costs, plus a score `g` of each span as a whole:

    W(t, l, d) = g(t, l, d) + Σ s(i, edge)       edges that stay inside the span of label `l` and
                                                 `d` tokens that ends at `t`
    ε(t, y) = log Σ_{e → y} exp(γ(t-1, source(e)) + s(t, e))     over edges that stay in no span
    γ(t, y) = log Σ_d exp(ε(t-d+1, first tag) + W(t, l, d))      `y` the last tag of such a span

`ε` is the sum of all beginnings in which a segment begins at `t` with the tag `y`, `γ` of those in
which one ends. With the shares of their terms

    w(t, e) = P(source(e) closes at t-1 | target(e) enters at t)
    v(t, l, d) = P(the span has d tokens | a span of label l, not of one token, closes at t)

the way back needs products only, which cannot overflow. The cost is O(T·L·n + T·E).
(docs/method.md, section 2.10)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...inference.lattice import Chains, longest_of
from ...inference.schemes import Spans
from ...jit import helper, inlined, kernel, maker
from ...types import Floats1d, Floats2d, Floats3d, Ints1d, Pointers1d


class Grid(NamedTuple):
    """Tags and edges of the spans of each label, int32 `[n]` each.

    single, first, last: tags of the only, first and last token. first_last, first_inside,
    inside_inside, inside_last: the edges between tokens of a span.
    """

    single: Ints1d
    first: Ints1d
    last: Ints1d
    first_last: Ints1d
    first_inside: Ints1d
    inside_inside: Ints1d
    inside_last: Ints1d


class Segments(NamedTuple):
    """Scores of spans as wholes.

    ends: int64 `[T + 1]`; rows `ends[t]:ends[t + 1]` are spans that end at `t`, the shortest
    first. length: int32 `[M]`. scores: float64 `[M, n]`; spans without a row have 0. of_lengths:
    float64 `[L, n]`, added to each span of so many tokens.
    """

    ends: Pointers1d
    length: Ints1d
    scores: Floats2d
    of_lengths: Floats2d


class Room(NamedTuple):
    """Memory for the longest sequence.

    within `[T, n, L]`: `W`, then `v`. into `[T, E]`: `w`. entering `[T, Y]`, closing `[T + 1, Y]`:
    `ε` and `γ`, then their probabilities.
    """

    within: Floats3d
    into: Floats2d
    entering: Floats2d
    closing: Floats2d


@maker
def room_for(chains, segments):  # type: ignore[no-untyped-def]
    """Room for the longest sequence."""
    longest = longest_of(chains.starts)
    most, n = segments.of_lengths.shape
    n_labels = len(chains.lattice.first_edge) - 1
    return Room(
        np.empty((longest, n, most)),
        np.empty((longest, len(chains.lattice.source))),
        np.empty((longest, n_labels)),
        np.empty((longest + 1, n_labels)),
    )


@inlined
def edge_score(chains, t, e):  # type: ignore[no-untyped-def]
    """`s(t, e)` of `inference.chain`."""
    lattice = chains.lattice
    score = chains.scores[t, lattice.column[e]] + chains.transitions[e]
    return score + chains.cost[chains.tags[t] + 1, lattice.target[e]]


@helper
def fill_within(grid, chains, segments, begin, end, within):  # type: ignore[no-untyped-def]
    """Fill `W` `[T, n, L]`, `-inf` where a span would begin before the sequence."""
    most, n = segments.of_lengths.shape
    for t in range(begin, end):
        row = t - begin
        reach = min(most, row + 1)
        for label in range(n):
            values = within[row, label]
            values[reach:] = -np.inf
            tail = edge_score(chains, t, grid.inside_last[label]) if reach > 2 else 0.0
            for d in range(1, reach + 1):
                inner = 0.0
                if d == 2:
                    inner = edge_score(chains, t, grid.first_last[label])
                elif d > 2:
                    if d > 3:
                        tail += edge_score(chains, t - d + 3, grid.inside_inside[label])
                    inner = tail + edge_score(chains, t - d + 2, grid.first_inside[label])
                values[d - 1] = inner + segments.of_lengths[d - 1, label]
        for m in range(segments.ends[t], segments.ends[t + 1]):
            d = segments.length[m]
            if d <= reach:
                for label in range(n):
                    within[row, label, d - 1] += segments.scores[m, label]


@helper
def _normalised(values):  # type: ignore[no-untyped-def]
    """`log Σ exp(values)`; the values become their shares of the sum, 0 where that is 0."""
    best = -np.inf
    for i in range(len(values)):
        best = max(best, values[i])
    if best == -np.inf:
        values[:] = 0.0
        return best
    total = 0.0
    for i in range(len(values)):
        # Most are impossible, or next to it.
        values[i] = math.exp(values[i] - best) if values[i] > -np.inf else 0.0
        total += values[i]
    for i in range(len(values)):
        values[i] /= total
    return best + math.log(total)


@helper
def forward(grid, chains, begin, end, room):  # type: ignore[no-untyped-def]
    """Fill `ε`, `γ` and `w`, and turn `W` into `v`; the log-partition.

    The last row of `closing` becomes the probabilities of the last tags. `-inf` when no
    segmentation is possible.
    """
    within, into, entering, closing = room
    lattice, outside = chains.lattice, chains.lattice.start
    most, length = within.shape[2], end - begin
    closing[0, :] = -np.inf
    closing[0, outside] = 0.0
    for row in range(length):
        for y in range(entering.shape[1]):
            first_edge, last_edge = lattice.first_edge[y], lattice.first_edge[y + 1]
            for e in range(first_edge, last_edge):
                before = -np.inf if lattice.continues[e] else closing[row, lattice.source[e]]
                if before > -np.inf:
                    before += edge_score(chains, begin + row, e)
                into[row, e] = before
            entering[row, y] = _normalised(into[row, first_edge:last_edge])
        closing[row + 1, :] = -np.inf
        closing[row + 1, outside] = entering[row, outside]
        reach = min(most, row + 1)
        for label in range(len(grid.single)):
            single, first = grid.single[label], grid.first[label]
            values = within[row, label]
            closing[row + 1, single] = entering[row, single] + values[0]
            values[0] = 1.0
            for d in range(2, reach + 1):
                values[d - 1] += entering[row + 1 - d, first]
            if reach > 1:
                closing[row + 1, grid.last[label]] = _normalised(values[1:reach])
            values[reach:] = 0.0
    return _normalised(closing[length])


@helper
def backward(grid, lattice, length, room):  # type: ignore[no-untyped-def]
    """Turn `ε` and `γ` into the probabilities that a segmentation has these tags there.

    P(y closes at t-1) = Σ_{e from y} P(target(e) enters at t)·w(t, e)
    P(y enters at t) = Σ_d P(last tag closes at t+d-1)·v(t+d-1, l, d)
    """
    within, into, entering, closing = room
    outside, most = lattice.start, within.shape[2]
    entering[:length] = 0.0
    for row in range(length - 1, -1, -1):
        entering[row, outside] += closing[row + 1, outside]
        for label in range(len(grid.single)):
            single, first = grid.single[label], grid.first[label]
            entering[row, single] += closing[row + 1, single]
            mass = closing[row + 1, grid.last[label]]
            if mass > 0.0 and grid.last[label] != single:
                for d in range(2, min(most, row + 1) + 1):
                    entering[row + 1 - d, first] += mass * within[row, label, d - 1]
        closing[row, :] = 0.0
        for e in range(len(lattice.source)):
            closing[row, lattice.source[e]] += entering[row, lattice.target[e]] * into[row, e]


@helper
def span_probability(grid, room, row, label, d):  # type: ignore[no-untyped-def]
    """Probability of the span of `d` tokens and a label that ends at a row."""
    last = grid.single[label] if d == 1 else grid.last[label]
    return room.closing[row + 1, last] * room.within[row, label, d - 1]


@helper
def sums_of(grid, chains, segments, begin, end, room):  # type: ignore[no-untyped-def]
    """Fill the room with all probabilities of a sequence; the log-partition."""
    fill_within(grid, chains, segments, begin, end, room.within)
    log_partition = forward(grid, chains, begin, end, room)
    backward(grid, chains.lattice, end - begin, room)
    return log_partition


@kernel
def segment_partitions(grid: Grid, chains: Chains, segments: Segments, values: Floats1d) -> None:
    """Log-partition of every sequence, costs included; values `[N]`: written."""
    room = room_for(chains, segments)
    for i in range(len(values)):
        begin, end = chains.starts[i], chains.starts[i + 1]
        fill_within(grid, chains, segments, begin, end, room.within)
        values[i] = forward(grid, chains, begin, end, room)


@kernel
def probable_segments(
    grid: Grid,
    chains: Chains,
    segments: Segments,
    least: float,
    spans: Spans,
    posteriors: Floats1d,
) -> int:
    """Every span with a probability of at least `least`; returns how many there are.

    spans, posteriors `[P]`: written as far as they go, by end, and those of one end backwards.
    """
    room = room_for(chains, segments)
    most, n = segments.of_lengths.shape
    n_found = 0
    for i in range(len(chains.starts) - 1):
        begin, end = chains.starts[i], chains.starts[i + 1]
        sums_of(grid, chains, segments, begin, end, room)
        for row in range(end - begin):
            for d in range(1, min(most, row + 1) + 1):
                for label in range(n):
                    p = span_probability(grid, room, row, label, d)
                    if p < least:
                        continue
                    if n_found < len(posteriors):
                        spans.start[n_found] = begin + row + 1 - d
                        spans.end[n_found] = begin + row + 1
                        spans.label[n_found] = label
                        posteriors[n_found] = min(1.0, p)
                    n_found += 1
    return n_found


@kernel
def segment_posteriors(
    grid: Grid,
    chains: Chains,
    segments: Segments,
    spans: Spans,
    sequences: Ints1d,
    posteriors: Floats1d,
) -> None:
    """Probability of each span `[P]`, in the order of their sequences `[P]`; written."""
    room = room_for(chains, segments)
    most = segments.of_lengths.shape[0]
    current = -1
    for p in range(len(posteriors)):
        begin, end = chains.starts[sequences[p]], chains.starts[sequences[p] + 1]
        if sequences[p] != current:
            current = sequences[p]
            sums_of(grid, chains, segments, begin, end, room)
        d = spans.end[p] - spans.start[p]
        posteriors[p] = 0.0
        if d <= most:
            row = spans.end[p] - 1 - begin
            value = span_probability(grid, room, row, spans.label[p], d)
            posteriors[p] = min(1.0, value)
