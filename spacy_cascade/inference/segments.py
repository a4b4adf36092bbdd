"""Sums over the segmentations of a sequence: the kernels of the semi-Markov structure.

A segmentation divides a sequence into segments: tokens outside, and spans of up to `L` tokens. It
is written as the tags that a scheme gives it, and its score is that of the chain of these tags
(`inference.chain`), which includes costs, plus a score `g` of each span as a whole:

    W(t, l, d) = g(t, l, d) + Σ s(i, edge)       edges that stay inside the span of label `l` and
                                                 `d` tokens that ends at `t`
    ε(t, y) = log Σ_{e → y} exp(γ(t-1, source(e)) + s(t, e))     over edges that stay in no span
    γ(t, y) = log Σ_d exp(ε(t-d+1, first tag) + W(t, l, d))      `y` the last tag of such a span

`ε` is the sum of all beginnings in which a segment begins at `t` with the tag `y`, `γ` of those in
which one ends. The cost is O(T·L·n + T·E). (docs/method.md, section 2.9)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..jit import helper, kernel
from ..types import Floats1d, Floats2d, Floats3d, Ints1d, Pointers1d
from .chain import edge_between
from .lattice import Chains, longest_of
from .schemes import Spans


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


@helper
def _add_span(grid, lattice, row, label, d, p, counts, inside, of_edges):  # type: ignore[no-untyped-def]
    """Add a span's probability to the edges between its tokens.

    inside `[T + 1, n]`: gets it where the run of edges from inside to inside begins, and its
    negative where that ends.
    """
    if d == 2:
        e = grid.first_last[label]
        counts[row, lattice.column[e]] += p
        of_edges[e] += p
    elif d > 2:
        e, f = grid.inside_last[label], grid.first_inside[label]
        counts[row, lattice.column[e]] += p
        counts[row - d + 2, lattice.column[f]] += p
        of_edges[e] += p
        of_edges[f] += p
        inside[row - d + 3, label] += p
        inside[row, label] -= p


@helper
def add_expectations(  # type: ignore[no-untyped-def]
    grid, chains, segments, begin, end, room, log_partition, sign, counts, of_segments, totals
):
    """Add `sign` times all probabilities to counts of columns, segments and transitions.

    counts `[T, S]`, of_segments `[M, n]`: of the sequence. totals: of edges `[E]`, of lengths
    `[L, n]`.
    """
    lattice = chains.lattice
    of_edges, of_lengths = totals
    most, n = of_lengths.shape
    length = end - begin
    inside = np.zeros((length + 2, n))
    first_row = segments.ends[begin]
    for row in range(length):
        t = begin + row
        for e in range(len(lattice.source)):
            before, follows = (
                room.closing[row, lattice.source[e]],
                room.ahead[row, lattice.target[e]],
            )
            if lattice.continues[e] or before == -np.inf or follows == -np.inf:
                continue
            p = sign * math.exp(before + edge_score(chains, t, e) + follows - log_partition)
            counts[row, lattice.column[e]] += p
            of_edges[e] += p
        m = segments.ends[t]
        for d in range(1, min(most, row + 1) + 1):
            while m < segments.ends[t + 1] and segments.length[m] < d:
                m += 1
            has_row = m < segments.ends[t + 1] and segments.length[m] == d
            for label in range(n):
                p = sign * span_probability(grid, room, row, label, d, log_partition)
                if p == 0.0:
                    continue
                of_lengths[d - 1, label] += p
                if has_row:
                    of_segments[m - first_row, label] += p
                _add_span(grid, lattice, row, label, d, p, counts, inside, of_edges)
    for label in range(n):
        e = grid.inside_inside[label]
        running = 0.0
        for row in range(length):
            running += inside[row, label]
            counts[row, lattice.column[e]] += running
            of_edges[e] += running


@helper
def add_observed(grid, chains, segments, begin, end, weight, counts, of_segments, totals):  # type: ignore[no-untyped-def]
    """Score of a fully observed path; its parts are taken off the counts, each `weight` times."""
    lattice, tags = chains.lattice, chains.tags
    of_edges, of_lengths = totals
    n = len(grid.single)
    previous, score = lattice.start, 0.0
    first, label = begin, -1
    for t in range(begin, end):
        e = edge_between(lattice, previous, tags[t])
        score += chains.scores[t, lattice.column[e]] + chains.transitions[e]
        counts[t - begin, lattice.column[e]] -= weight
        of_edges[e] -= weight
        if not lattice.continues[e]:
            first, label = t, -1
            for k in range(n):
                if tags[t] == grid.single[k] or tags[t] == grid.first[k]:
                    label = k
        previous = tags[t]
        if label < 0 or _goes_on(lattice, tags, t, end):
            continue
        d = t + 1 - first
        score += segments.of_lengths[d - 1, label]
        of_lengths[d - 1, label] -= weight
        for m in range(segments.ends[t], segments.ends[t + 1]):
            if segments.length[m] == d:
                score += segments.scores[m, label]
                of_segments[m - segments.ends[begin], label] -= weight
    return score


@helper
def _goes_on(lattice, tags, t, end):  # type: ignore[no-untyped-def]
    """Whether the span at `t` has a further token."""
    if t + 1 == end:
        return False
    e = edge_between(lattice, tags[t], tags[t + 1])
    return e >= 0 and lattice.continues[e]


@kernel
def segment_losses(
    grid: Grid,
    chains: Chains,
    segments: Segments,
    clamp: Floats2d,
    gradient_weights: tuple[Floats1d, Floats1d],
    first: int,
    last: int,
    losses: Floats1d,
    totals: tuple[Floats1d, Floats2d],
) -> None:
    """Losses and gradients of the sequences `first <= i < last`, as `chain.chain_losses`.

    The scores of the chains and of the segments are OVERWRITTEN by the gradients with respect to
    them. totals: gradients of edges `[E]` and lengths `[L, n]`, added to.
    """
    lattice, scores, transitions, _, tags, all_starts = chains
    starts = all_starts[first : last + 1]
    own = Chains(lattice, scores, transitions, chains.cost, tags, starts)
    clamped = Chains(lattice, scores, transitions, clamp, tags, starts)
    expected, observed = gradient_weights
    room = room_for(own, segments)
    counts = np.empty((longest_of(starts), scores.shape[1]))
    for i in range(first, last):
        begin, end = all_starts[i], all_starts[i + 1]
        n_observed = np.count_nonzero(tags[begin:end] >= 0)
        rows = slice(segments.ends[begin], segments.ends[end])
        if n_observed == 0:
            losses[i] = 0.0
            scores[begin:end] = 0.0
            segments.scores[rows] = 0.0
            continue
        of_sequence = counts[: end - begin]
        of_sequence[:] = 0.0
        of_segments = np.zeros_like(segments.scores[rows])
        losses[i] = _expectations(
            grid, own, segments, begin, end, room, expected[i], of_sequence, of_segments, totals
        )
        if n_observed == end - begin:
            losses[i] -= add_observed(
                grid, own, segments, begin, end, observed[i], of_sequence, of_segments, totals
            )
        else:
            losses[i] -= _expectations(
                grid, clamped, segments, begin, end, room, -observed[i], of_sequence, of_segments,
                totals,
            )  # fmt: skip
        scores[begin:end] = of_sequence
        segments.scores[rows] = of_segments


@helper
def _expectations(grid, chains, segments, begin, end, room, sign, counts, of_segments, totals):  # type: ignore[no-untyped-def]
    """Forward and backward; the log-partition."""
    fill_within(grid, chains, segments, begin, end, room.within)
    log_partition = forward(grid, chains, begin, end, room)
    backward(grid, chains, begin, end, room)
    add_expectations(
        grid, chains, segments, begin, end, room, log_partition, sign, counts, of_segments, totals
    )
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
def segment_path_scores(grid: Grid, chains: Chains, segments: Segments, values: Floats1d) -> None:
    """Score of the observed segmentation of every sequence; values `[N]`: written."""
    no_counts = np.zeros(chains.scores.shape)
    of_segments = np.zeros(segments.scores.shape)
    totals = np.zeros(len(chains.transitions)), np.zeros(segments.of_lengths.shape)
    for i in range(len(values)):
        begin, end = chains.starts[i], chains.starts[i + 1]
        values[i] = add_observed(
            grid, chains, segments, begin, end, 0.0, no_counts[begin:end],
            of_segments[segments.ends[begin] :], totals,
        )  # fmt: skip


@kernel
def segment_marginals(grid: Grid, chains: Chains, segments: Segments, marginals: Floats2d) -> None:
    """Add the probability of each edge at each token to its column of `marginals` `[T, S]`."""
    room = room_for(chains, segments)
    of_segments = np.zeros(segments.scores.shape)
    totals = np.zeros(len(chains.transitions)), np.zeros(segments.of_lengths.shape)
    for i in range(len(chains.starts) - 1):
        begin, end = chains.starts[i], chains.starts[i + 1]
        _expectations(
            grid, chains, segments, begin, end, room, 1.0, marginals[begin:end],
            of_segments[segments.ends[begin] :], totals,
        )  # fmt: skip


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
        fill_within(grid, chains, segments, begin, end, room.within)
        log_partition = forward(grid, chains, begin, end, room)
        backward(grid, chains, begin, end, room)
        for row in range(end - begin):
            for d in range(1, min(most, row + 1) + 1):
                for label in range(n):
                    p = span_probability(grid, room, row, label, d, log_partition)
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
    current, log_partition = -1, 0.0
    for p in range(len(posteriors)):
        begin, end = chains.starts[sequences[p]], chains.starts[sequences[p] + 1]
        if sequences[p] != current:
            current = sequences[p]
            fill_within(grid, chains, segments, begin, end, room.within)
            log_partition = forward(grid, chains, begin, end, room)
            backward(grid, chains, begin, end, room)
        d = spans.end[p] - spans.start[p]
        posteriors[p] = 0.0
        if d <= most:
            row = spans.end[p] - 1 - begin
            value = span_probability(grid, room, row, spans.label[p], d, log_partition)
            posteriors[p] = min(1.0, value)
