"""Exact inference on a linear chain: forward-backward and losses.

All kernels score edge `e` at position `t` by

    s(t, e) = scores[t, column[e]] + transitions[e] + cost[tags[t] + 1, target[e]]

`tags[t]` is the observed label, or -1 where nothing is known, or -2 where only that the span before
has ended. `cost` `[Y + 2, Y]` is what an observation adds to each label: zeros for plain scores,
`κ·Err` for a margin, `-inf` off the observed label for a clamped chain. Its first row belongs to
-1, and its last one to -2; where no tag is -2 that one may be left out.

    α(t, y) = cost[tags[t] + 1, y] + log Σ_{e → y} exp(α(t-1, source(e)) + s(t, e))
    w(t, e) = P(source(e) at t-1 | target(e) at t)                 sums to 1 for each label
    P(e at t) = P(target(e) at t)·w(t, e)

Sums of such products cannot overflow, whatever the size of the weights or the length of the chain.
(docs/method.md, sections 1.4 and 2.1)

The losses of training (`inference.chain_losses`) are computed faster, and come here where numbers
would underflow.
"""

from __future__ import annotations

import math

import numpy as np

from ..jit import helper, kernel, maker
from ..types import Floats1d
from .lattice import Chains, LossTerms, longest_of


@helper
def _forward(lattice, scores, transitions, cost, tags, begin, end, w, marginals):  # type: ignore[no-untyped-def]
    """Fill `w` `[T, E]`, and the last row of `marginals` `[T + 1, Y]` with `P(y at the end)`.

    Other rows of `marginals` are overwritten with `α`, shifted to a largest value of zero.
    Returns the log-partition, `-inf` when no path is possible. Who asks for no more may give fewer
    rows, one and two at least: they are used in turn.
    """
    n_labels = len(lattice.first_edge) - 1
    marginals[0, :] = -np.inf
    marginals[0, lattice.start] = 0.0
    log_partition = 0.0
    for t in range(begin, end):
        row, before = (t - begin) % len(w), (t - begin) % len(marginals)
        after = (t - begin + 1) % len(marginals)
        observed = tags[t] + 1
        shift = -np.inf
        for y in range(n_labels):
            first, last = lattice.first_edge[y], lattice.first_edge[y + 1]
            best = -np.inf
            for e in range(first, last):
                score = scores[t, lattice.column[e]] + transitions[e]
                w[row, e] = score + marginals[before, lattice.source[e]]
                best = max(best, w[row, e])
            if best == -np.inf or (t == end - 1 and not lattice.final[y]):
                # -inf minus -inf has no value: a label that nothing reaches weighs nothing.
                w[row, first:last] = 0.0
                marginals[after, y] = -np.inf
                continue
            total = 0.0
            for e in range(first, last):
                w[row, e] = math.exp(w[row, e] - best)
                total += w[row, e]
            for e in range(first, last):
                w[row, e] /= total
            marginals[after, y] = best + math.log(total) + cost[observed, y]
            shift = max(shift, marginals[after, y])
        if shift == -np.inf:
            return -np.inf
        for y in range(n_labels):
            marginals[after, y] -= shift
        log_partition += shift
    total, at_end = 0.0, marginals[(end - begin) % len(marginals)]
    for y in range(n_labels):
        at_end[y] = math.exp(at_end[y])
        total += at_end[y]
    for y in range(n_labels):
        at_end[y] /= total
    return log_partition + math.log(total)


@helper
def forward_backward(lattice, scores, transitions, cost, tags, begin, end, w, marginals):  # type: ignore[no-untyped-def]
    """Fill `w` `[T, E]`, and `marginals` `[T + 1, Y]` with `P(y at t - 1)`; the log-partition."""
    log_partition = _forward(lattice, scores, transitions, cost, tags, begin, end, w, marginals)
    for row in range(end - begin - 1, -1, -1):
        marginals[row, :] = 0.0
        for e in range(len(lattice.source)):
            marginals[row, lattice.source[e]] += marginals[row + 1, lattice.target[e]] * w[row, e]
    return log_partition


@maker
def room_for(lattice, starts):  # type: ignore[no-untyped-def]
    """Room for `w` and `marginals` of the longest sequence."""
    longest = longest_of(starts)
    n_labels = len(lattice.first_edge) - 1
    return np.empty((longest, len(lattice.source))), np.empty((longest + 1, n_labels))


@helper
def _add_edge_marginals(lattice, length, w, marginals, sign, counts, transition_counts):  # type: ignore[no-untyped-def]
    """Add `sign · P(edge at t)` to `counts` `[T, S]` and `transition_counts` `[E]`."""
    for row in range(length):
        for e in range(len(lattice.source)):
            marginal = sign * marginals[row + 1, lattice.target[e]] * w[row, e]
            counts[row, lattice.column[e]] += marginal
            transition_counts[e] += marginal


@helper
def observed_path(chains, begin, end, weight, counts, transition_counts):  # type: ignore[no-untyped-def]
    """Score of a fully observed path; its edges are taken off the counts, each `weight` times."""
    lattice, scores, transitions, _, tags, _ = chains
    previous = lattice.start
    score = 0.0
    for t in range(begin, end):
        for e in range(lattice.first_edge[tags[t]], lattice.first_edge[tags[t] + 1]):
            if lattice.source[e] == previous:
                score += scores[t, lattice.column[e]] + transitions[e]
                counts[t - begin, lattice.column[e]] -= weight
                transition_counts[e] -= weight
        previous = tags[t]
    return score


@helper
def count_observed(tags, begin, end):  # type: ignore[no-untyped-def]
    """How many of the positions have an observed label."""
    n = 0
    for t in range(begin, end):
        n += tags[t] >= 0
    return n


@kernel
def log_space_loss(chains: Chains, terms: LossTerms, transition_counts: Floats1d) -> None:
    """As `chain_losses.chain_losses`, of the first of the sequences; its scores are OVERWRITTEN."""
    lattice, scores, transitions, cost, tags, starts = chains
    i = terms.first
    expected, observed = terms.shares[0][i], terms.shares[1][i]
    begin, end = starts[i], starts[i + 1]
    length = end - begin
    w, marginals = room_for(lattice, starts[i : i + 2])
    counts = np.zeros((length, scores.shape[1]))
    loss = forward_backward(lattice, scores, transitions, cost, tags, begin, end, w, marginals)
    _add_edge_marginals(lattice, length, w, marginals, expected, counts, transition_counts)
    if count_observed(tags, begin, end) == length:
        loss -= observed_path(chains, begin, end, observed, counts, transition_counts)
    else:
        loss -= forward_backward(
            lattice, scores, transitions, terms.clamp, tags, begin, end, w, marginals
        )
        _add_edge_marginals(lattice, length, w, marginals, -observed, counts, transition_counts)
    terms.losses[i] = loss
    for t in range(begin, end):
        for s in range(scores.shape[1]):
            scores[t, s] = counts[t - begin, s]


@kernel
def log_partitions(chains: Chains, values: Floats1d) -> None:
    """Log-partition of every sequence, with which scores of paths become log-probabilities.

        values[i] = log Σ_y exp(score(y) + cost(y)),    log P(y) = score(y) - values[i]

    values `[N]`: written.
    """
    lattice, scores, transitions, cost, tags, starts = chains
    w = np.empty((1, len(lattice.source)))
    marginals = np.empty((2, len(lattice.first_edge) - 1))
    for i in range(len(values)):
        begin, end = starts[i], starts[i + 1]
        values[i] = _forward(lattice, scores, transitions, cost, tags, begin, end, w, marginals)


@helper
def edge_between(lattice, previous, label):  # type: ignore[no-untyped-def]
    """The edge from one label to another; there has to be one."""
    for e in range(lattice.first_edge[label], lattice.first_edge[label + 1]):
        if lattice.source[e] == previous:
            return e
    return -1


@kernel
def path_scores(chains: Chains, values: Floats1d) -> None:
    """Write `Σ_t scores[t, column(e_t)] + transitions[e_t]` of each observed path to `values`."""
    lattice, scores, transitions, _, tags, starts = chains
    for i in range(len(starts) - 1):
        previous = lattice.start
        values[i] = 0.0
        for t in range(starts[i], starts[i + 1]):
            e = edge_between(lattice, previous, tags[t])
            values[i] += scores[t, lattice.column[e]] + transitions[e]
            previous = tags[t]
