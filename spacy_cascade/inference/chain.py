"""Exact inference on a linear chain: forward-backward, span posteriors, Viterbi.

All kernels score edge `e` at position `t` by

    s(t, e) = scores[t, column[e]] + transitions[e] + cost[tags[t] + 1, target[e]]

`tags[t]` is the observed label or -1. `cost` `[Y + 1, Y]` says what an observation adds
to each label: zeros for plain scores, `κ·Err` for a margin, `-inf` off the observed
label for a clamped chain; its first row belongs to positions without an observation.

The forward pass is kept in probability space but shifted by the Viterbi scores `δ`:

    w(t, e) = exp(s(t, e) + δ[t-1, source] - δ[t, target])      at most 1
    α[t, y] = Σ_{e → y} α[t-1, source(e)]·w(t, e) / scale[t]

Every label has one incoming edge with `w = 1`, so nothing underflows that matters,
whatever the size of the weights or the length of the chain, and a position costs one
`exp` an edge. (Forward-backward: Rabiner 1989, section V; METHOD.md, MEMB.)
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..types import Floats1d, Floats2d, Ints1d, Pointers1d
from .lattice import Lattice


@njit(nogil=True, cache=True)
def _forward(lattice, scores, transitions, cost, tags, begin, end, w, alpha, scale, delta):  # type: ignore[no-untyped-def]
    """Fill `w` `[T, E]`, `alpha` `[T + 1, Y]`, `scale` `[T]`; leave the last `δ` in `delta[0]`.

    `alpha[0]` stands before the first position. Returns the log-partition, `-inf` when
    no path is possible.
    """
    n_labels = len(lattice.first_edge) - 1
    previous, current = delta[0], delta[1]
    previous[:] = -np.inf
    previous[lattice.start] = 0.0
    alpha[0, :] = 0.0
    alpha[0, lattice.start] = 1.0
    log_partition = 0.0
    for t in range(begin, end):
        row = t - begin
        observed = tags[t] + 1
        shift = -np.inf
        largest = 0.0
        for y in range(n_labels):
            best = -np.inf
            for e in range(lattice.first_edge[y], lattice.first_edge[y + 1]):
                s = scores[t, lattice.column[e]] + transitions[e] + previous[lattice.source[e]]
                w[row, e] = s
                best = max(best, s)
            total = 0.0
            for e in range(lattice.first_edge[y], lattice.first_edge[y + 1]):
                # -inf minus -inf has no value: a label that nothing reaches weighs nothing.
                weight = math.exp(w[row, e] - best) if best > -np.inf else 0.0
                w[row, e] = weight
                total += weight * alpha[row, lattice.source[e]]
            best += cost[observed, y]
            if t == end - 1 and not lattice.final[y]:
                best = -np.inf
            if best == -np.inf:
                total = 0.0
            alpha[row + 1, y] = total
            current[y] = best
            shift = max(shift, best)
            largest = max(largest, total)
        if shift == -np.inf:
            return -np.inf
        for y in range(n_labels):
            alpha[row + 1, y] /= largest
            previous[y] = current[y] - shift
        scale[row] = largest
        log_partition += shift + math.log(largest)
    total = 0.0
    for y in range(n_labels):
        total += alpha[end - begin, y] * math.exp(previous[y])
    return log_partition + math.log(total)


@njit(nogil=True, cache=True)
def _backward(lattice, length, w, beta, delta):  # type: ignore[no-untyped-def]
    """Fill `beta` `[T + 1, Y]`, each row scaled to a largest value of one."""
    n_labels = len(lattice.first_edge) - 1
    for y in range(n_labels):
        beta[length, y] = math.exp(delta[0, y])
    for row in range(length - 1, -1, -1):
        beta[row, :] = 0.0
        for e in range(len(lattice.source)):
            beta[row, lattice.source[e]] += w[row, e] * beta[row + 1, lattice.target[e]]
        largest = beta[row].max()
        for y in range(n_labels):
            beta[row, y] /= largest


@njit(nogil=True, cache=True)
def _add_edge_marginals(lattice, length, w, alpha, beta, sign, counts, transition_counts):  # type: ignore[no-untyped-def]
    """Add `sign · P(edge at t)` to `counts` `[T, S]` and `transition_counts` `[E]`."""
    for row in range(length):
        total = 0.0
        for e in range(len(lattice.source)):
            mass = alpha[row, lattice.source[e]] * w[row, e] * beta[row + 1, lattice.target[e]]
            w[row, e] = mass
            total += mass
        for e in range(len(lattice.source)):
            marginal = sign * w[row, e] / total
            counts[row, lattice.column[e]] += marginal
            transition_counts[e] += marginal


@njit(nogil=True, cache=True)
def _observed_path(lattice, scores, transitions, tags, begin, end, counts, transition_counts):  # type: ignore[no-untyped-def]
    """Score of a fully observed path; its edges are taken off the counts."""
    previous = lattice.start
    score = 0.0
    for t in range(begin, end):
        for e in range(lattice.first_edge[tags[t]], lattice.first_edge[tags[t] + 1]):
            if lattice.source[e] == previous:
                score += scores[t, lattice.column[e]] + transitions[e]
                counts[t - begin, lattice.column[e]] -= 1.0
                transition_counts[e] -= 1.0
        previous = tags[t]
    return score


@njit(nogil=True, cache=True)
def chain_losses(
    lattice: Lattice,
    scores: Floats2d,
    transitions: Floats1d,
    cost: Floats2d,
    clamp: Floats2d,
    tags: Ints1d,
    starts: Pointers1d,
    first: int,
    last: int,
    losses: Floats1d,
    transition_counts: Floats1d,
) -> None:
    """Losses and score gradients of the sequences `first <= i < last`.

        loss[i] = log Σ_y exp(score(y) + cost(y)) - log Σ_{y agrees with tags} exp(score(y))

    lattice: the edges. scores `[T, S]`: OVERWRITTEN by the gradient of the losses with
    respect to them. transitions `[E]`. cost, clamp `[Y + 1, Y]`: see the module. tags
    `[T]`, -1 where unobserved: the second sum then runs over all labels there (METHOD.md,
    missing annotation). starts `[N + 1]`: sequence `i` is `starts[i]:starts[i + 1]`.
    losses `[N]`: written. transition_counts `[E]`: the gradient is added.
    """
    n_labels, n_edges = len(lattice.first_edge) - 1, len(lattice.source)
    longest = 0
    for i in range(first, last):
        longest = max(longest, starts[i + 1] - starts[i])
    w = np.empty((longest, n_edges))
    alpha = np.empty((longest + 1, n_labels))
    beta = np.empty((longest + 1, n_labels))
    scale = np.empty(longest)
    delta = np.empty((2, n_labels))
    counts = np.empty((longest, scores.shape[1]))
    for i in range(first, last):
        begin, end = starts[i], starts[i + 1]
        length = end - begin
        counts[:length] = 0.0
        n_observed = 0
        for t in range(begin, end):
            n_observed += tags[t] >= 0
        if n_observed == 0:
            losses[i] = 0.0
            scores[begin:end] = 0.0
            continue
        losses[i] = _forward(
            lattice, scores, transitions, cost, tags, begin, end, w, alpha, scale, delta
        )
        _backward(lattice, length, w, beta, delta)
        _add_edge_marginals(lattice, length, w, alpha, beta, 1.0, counts, transition_counts)
        if n_observed == length:
            losses[i] -= _observed_path(
                lattice, scores, transitions, tags, begin, end, counts, transition_counts
            )
        else:
            losses[i] -= _forward(
                lattice, scores, transitions, clamp, tags, begin, end, w, alpha, scale, delta
            )
            _backward(lattice, length, w, beta, delta)
            _add_edge_marginals(lattice, length, w, alpha, beta, -1.0, counts, transition_counts)
        scores[begin:end] = counts[:length]


@njit(nogil=True, cache=True)
def span_posteriors(
    lattice: Lattice,
    scores: Floats2d,
    transitions: Floats1d,
    cost: Floats2d,
    tags: Ints1d,
    starts: Pointers1d,
    path: Ints1d,
    spans: Pointers1d,
    span_ends: Pointers1d,
    span_sequences: Ints1d,
    posteriors: Floats1d,
) -> None:
    """Exact probability that a sequence has each given span, whatever the rest of it.

    path `[T]`: the labels that the spans would have. spans, span_ends `[P]`: first
    position and the one after the last, positions as in `scores`, ordered by sequence.
    span_sequences `[P]`: the sequence of each. posteriors `[P]`: written.

    The paths summed over enter the span by an edge that does not continue a span,
    follow `path` inside it, and leave it by an edge that does not continue it.
    """
    n_labels, n_edges = len(lattice.first_edge) - 1, len(lattice.source)
    longest = 0
    for p in range(len(spans)):
        i = span_sequences[p]
        longest = max(longest, starts[i + 1] - starts[i])
    w = np.empty((longest, n_edges))
    alpha = np.empty((longest + 1, n_labels))
    beta = np.empty((longest + 1, n_labels))
    scale = np.empty(longest)
    delta = np.empty((2, n_labels))
    done = -1
    for p in range(len(spans)):
        i = span_sequences[p]
        begin, end = starts[i], starts[i + 1]
        if i != done:
            _forward(lattice, scores, transitions, cost, tags, begin, end, w, alpha, scale, delta)
            _backward(lattice, end - begin, w, beta, delta)
            done = i
        mass = 0.0
        for t in range(spans[p], span_ends[p]):
            inside = 0.0
            for e in range(lattice.first_edge[path[t]], lattice.first_edge[path[t] + 1]):
                if t == spans[p]:
                    if not lattice.continues[e]:
                        inside += alpha[t - begin, lattice.source[e]] * w[t - begin, e]
                elif lattice.continues[e] and lattice.source[e] == path[t - 1]:
                    inside += mass * w[t - begin, e]
            mass = inside / scale[t - begin]
        after = span_ends[p] - begin
        if span_ends[p] < end:
            leaving, all_edges = 0.0, 0.0
            for e in range(n_edges):
                if lattice.source[e] == path[span_ends[p] - 1]:
                    flow = w[after, e] * beta[after + 1, lattice.target[e]]
                    all_edges += flow
                    if not lattice.continues[e]:
                        leaving += flow
            mass *= leaving / all_edges if all_edges > 0.0 else 0.0
        total = 0.0
        for y in range(n_labels):
            total += alpha[after, y] * beta[after, y]
        posteriors[p] = min(1.0, mass * beta[after, path[span_ends[p] - 1]] / total)


@njit(nogil=True, cache=True)
def viterbi(
    lattice: Lattice,
    scores: Floats2d,
    transitions: Floats1d,
    cost: Floats2d,
    tags: Ints1d,
    starts: Pointers1d,
    path: Ints1d,
    path_scores: Floats1d,
) -> None:
    """The best label sequence of every sequence, ties to the edge listed first.

    path `[T]`, path_scores `[N]`: written. Other arguments as in `chain_losses`.
    """
    n_labels = len(lattice.first_edge) - 1
    longest = 0
    for i in range(len(starts) - 1):
        longest = max(longest, starts[i + 1] - starts[i])
    came_from = np.empty((longest, n_labels), dtype=np.int32)
    delta = np.empty((2, n_labels))
    for i in range(len(starts) - 1):
        begin, end = starts[i], starts[i + 1]
        previous, current = delta[0], delta[1]
        previous[:] = -np.inf
        previous[lattice.start] = 0.0
        for t in range(begin, end):
            observed = tags[t] + 1
            for y in range(n_labels):
                best = -np.inf
                origin = 0
                for e in range(lattice.first_edge[y], lattice.first_edge[y + 1]):
                    s = scores[t, lattice.column[e]] + transitions[e] + previous[lattice.source[e]]
                    if s > best:
                        best = s
                        origin = lattice.source[e]
                came_from[t - begin, y] = origin
                current[y] = best + cost[observed, y]
            previous, current = current, previous
        label = -1
        for y in range(n_labels):
            if lattice.final[y] and (label < 0 or previous[y] > previous[label]):
                label = y
        path_scores[i] = previous[label]
        for t in range(end - 1, begin - 1, -1):
            path[t] = label
            label = came_from[t - begin, label]
