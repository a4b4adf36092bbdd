"""Losses of the semi-Markov chain and their gradients; sums over segmentations are in `segments`.

The gradient with respect to a score is the probability that a segmentation uses it. A span of
probability `p` uses the edges between its tokens, so `p` is added to each of them; a run of equal
edges gets it where it begins, and loses it where it ends.
"""

from __future__ import annotations

import numpy as np

from ...inference.chain import edge_between
from ...inference.lattice import Chains, LossTerms, longest_of
from ...jit import helper, kernel, maker
from ...types import Floats1d, Floats2d
from .segments import Grid, Segments, room_for, span_probability, sums_of


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


@maker
def add_expectations(  # type: ignore[no-untyped-def]
    grid, chains, segments, begin, end, room, sign, counts, of_segments, totals
):
    """Add `sign` times all probabilities to counts of columns, segments and transitions.

    Returns the log-partition.

    counts `[T, S]`, of_segments `[M, n]`: of the sequence. totals: of edges `[E]`, of lengths
    `[L, n]`.
    """
    log_partition = sums_of(grid, chains, segments, begin, end, room)
    lattice = chains.lattice
    of_edges, of_lengths = totals
    most, n = of_lengths.shape
    length = end - begin
    inside = np.zeros((length + 2, n))
    first_row = segments.ends[begin]
    for row in range(length):
        t = begin + row
        for e in range(len(lattice.source)):
            p = sign * room.entering[row, lattice.target[e]] * room.into[row, e]
            counts[row, lattice.column[e]] += p
            of_edges[e] += p
        m = segments.ends[t]
        for d in range(1, min(most, row + 1) + 1):
            while m < segments.ends[t + 1] and segments.length[m] < d:
                m += 1
            has_row = m < segments.ends[t + 1] and segments.length[m] == d
            for label in range(n):
                p = sign * span_probability(grid, room, row, label, d)
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
    return log_partition


@helper
def _goes_on(lattice, tags, t, end):  # type: ignore[no-untyped-def]
    """Whether the span at `t` of a legal path has a further token."""
    return t + 1 < end and lattice.continues[edge_between(lattice, tags[t], tags[t + 1])]


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


@kernel
def segment_losses(
    grid: Grid,
    chains: Chains,
    segments: Segments,
    terms: LossTerms,
    totals: tuple[Floats1d, Floats2d],
) -> None:
    """Losses and gradients of sequences, as `chain_losses.chain_losses`.

    The scores of the chains and of the segments are OVERWRITTEN by the gradients with respect to
    them. totals: gradients of edges `[E]` and lengths `[L, n]`, added to.
    """
    lattice, scores, transitions, _, tags, all_starts = chains
    clamp, (expected, observed), first, last, losses = terms
    starts = all_starts[first : last + 1]
    own = Chains(lattice, scores, transitions, chains.cost, tags, starts)
    clamped = Chains(lattice, scores, transitions, clamp, tags, starts)
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
        losses[i] = add_expectations(
            grid, own, segments, begin, end, room, expected[i], of_sequence, of_segments, totals
        )
        if n_observed == end - begin:
            losses[i] -= add_observed(
                grid, own, segments, begin, end, observed[i], of_sequence, of_segments, totals
            )
        else:
            losses[i] -= add_expectations(
                grid, clamped, segments, begin, end, room, -observed[i], of_sequence, of_segments,
                totals,
            )  # fmt: skip
        for t in range(end - begin):
            for s in range(scores.shape[1]):
                scores[begin + t, s] = of_sequence[t, s]
        for m in range(len(of_segments)):
            for label in range(of_segments.shape[1]):
                segments.scores[segments.ends[begin] + m, label] = of_segments[m, label]


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
