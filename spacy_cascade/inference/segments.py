"""Sums over the segmentations of a sequence: the kernels of the semi-Markov structure.

A segmentation divides a sequence into segments: tokens outside, and spans of up to `L` tokens. It
is written as the tags that a scheme gives it, and its score is that of the chain of these tags
(`inference.chain`), which includes costs, plus a score `g` of each span as a whole:

    W(t, l, d) = g(t, l, d) + Σ s(i, edge)       edges that stay inside the span of label `l` and
                                                 `d` tokens that ends at `t`
    ε(t, y) = log Σ_{e → y} exp(γ(t-1, source(e)) + s(t, e))     over edges that stay in no span
    γ(t, y) = log Σ_d exp(ε(t-d+1, first tag) + W(t, l, d))      `y` the last tag of such a span

`ε` is the sum of all beginnings in which a segment begins at `t` with the tag `y`, `γ` of those in
which one ends. The cost is O(T·L·n + T·E). (docs/method.md, section 2.10)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..jit import helper, kernel
from ..types import Floats1d, Floats2d, Floats3d, Ints1d, Pointers1d
from .lattice import Chains, longest_of


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
    """Memory for the longest sequence: `W` `[T, n, L]`, `ε` `[T, Y]`, `γ` `[T + 1, Y]`.

    ahead, after: the same from the end, `[T + 1, Y]` each (`backward`).
    """

    within: Floats3d
    entering: Floats2d
    closing: Floats2d
    ahead: Floats2d
    after: Floats2d


@helper
def room_for(chains, segments):  # type: ignore[no-untyped-def]
    """Room for the longest sequence."""
    longest = longest_of(chains.starts)
    most, n = segments.of_lengths.shape
    n_labels = len(chains.lattice.first_edge) - 1
    return Room(
        np.empty((longest, n, most)),
        np.empty((longest, n_labels)),
        np.empty((longest + 1, n_labels)),
        np.empty((longest + 1, n_labels)),
        np.empty((longest + 1, n_labels)),
    )


@helper
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
def _add(one, other):  # type: ignore[no-untyped-def]
    """`log(exp(one) + exp(other))`."""
    if one < other:
        one, other = other, one
    return one if other == -np.inf else one + math.log1p(math.exp(other - one))


@helper
def forward(grid, chains, begin, end, room):  # type: ignore[no-untyped-def]
    """Fill `ε` and `γ`; the log-partition, `-inf` when no segmentation is possible."""
    within, entering, closing = room.within, room.entering, room.closing
    lattice = chains.lattice
    closing[0, :] = -np.inf
    closing[0, lattice.start] = 0.0
    most = within.shape[2]
    for row in range(end - begin):
        for y in range(entering.shape[1]):
            total = -np.inf
            for e in range(lattice.first_edge[y], lattice.first_edge[y + 1]):
                if not lattice.continues[e]:
                    before = closing[row, lattice.source[e]]
                    if before > -np.inf:
                        total = _add(total, before + edge_score(chains, begin + row, e))
            entering[row, y] = total
        closing[row + 1, :] = -np.inf
        closing[row + 1, lattice.start] = entering[row, lattice.start]
        for label in range(len(grid.single)):
            single, first = grid.single[label], grid.first[label]
            values = within[row, label]
            closing[row + 1, single] = entering[row, single] + values[0]
            best = -np.inf
            reach = min(most, row + 1)
            for d in range(2, reach + 1):
                best = max(best, entering[row + 1 - d, first] + values[d - 1])
            if best > -np.inf:
                total = 0.0
                for d in range(2, reach + 1):
                    total += math.exp(entering[row + 1 - d, first] + values[d - 1] - best)
                closing[row + 1, grid.last[label]] = best + math.log(total)
    total = -np.inf
    for y in range(entering.shape[1]):
        if lattice.final[y]:
            total = _add(total, closing[end - begin, y])
    return total


@helper
def backward(grid, chains, begin, end, room):  # type: ignore[no-untyped-def]
    """Fill the sums over all ends of a segmentation, given how the rest of it begins.

        ahead(t, y) = log Σ exp(score of all from t on), where a segment begins at t with the tag y
        after(t, y) = log Σ_{e from y} exp(s(t, e) + ahead(t, target(e)))       a segment ended

    The score of `ahead` leaves out the edge that enters.
    """
    within, ahead, after = room.within, room.ahead, room.after
    lattice, length = chains.lattice, end - begin
    most = within.shape[2]
    for y in range(after.shape[1]):
        after[length, y] = 0.0 if lattice.final[y] else -np.inf
    for row in range(length - 1, -1, -1):
        ahead[row, :] = -np.inf
        ahead[row, lattice.start] = after[row + 1, lattice.start]
        for label in range(len(grid.single)):
            single, first, last = grid.single[label], grid.first[label], grid.last[label]
            alone = within[row, label, 0] + after[row + 1, single]
            best = -np.inf
            reach = min(most, length - row)
            for d in range(2, reach + 1):
                best = max(best, within[row + d - 1, label, d - 1] + after[row + d, last])
            ahead[row, single] = alone
            if best > -np.inf:
                total = 0.0
                for d in range(2, reach + 1):
                    value = within[row + d - 1, label, d - 1] + after[row + d, last]
                    total += math.exp(value - best)
                ahead[row, first] = _add(ahead[row, first], best + math.log(total))
        after[row, :] = -np.inf
        for e in range(len(lattice.source)):
            follows = ahead[row, lattice.target[e]]
            if not lattice.continues[e] and follows > -np.inf:
                value = edge_score(chains, begin + row, e) + follows
                after[row, lattice.source[e]] = _add(after[row, lattice.source[e]], value)


@helper
def span_probability(grid, room, row, label, d, log_partition):  # type: ignore[no-untyped-def]
    """Probability of the span of `d` tokens and a label that ends at a row."""
    tag = grid.single[label] if d == 1 else grid.first[label]
    last = grid.single[label] if d == 1 else grid.last[label]
    value = room.entering[row + 1 - d, tag] + room.within[row, label, d - 1]
    value += room.after[row + 1, last]
    return math.exp(value - log_partition) if value > -np.inf else 0.0


@kernel
def segment_partitions(grid: Grid, chains: Chains, segments: Segments, values: Floats1d) -> None:
    """Log-partition of every sequence, costs included; values `[N]`: written."""
    room = room_for(chains, segments)
    for i in range(len(values)):
        begin, end = chains.starts[i], chains.starts[i + 1]
        fill_within(grid, chains, segments, begin, end, room.within)
        values[i] = forward(grid, chains, begin, end, room)
