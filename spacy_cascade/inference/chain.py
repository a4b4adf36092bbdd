"""Exact inference on a linear chain: forward-backward, losses, marginals.

All kernels score edge `e` at position `t` by

    s(t, e) = scores[t, column[e]] + transitions[e] + cost[tags[t] + 1, target[e]]

`tags[t]` is the observed label, or -1 where nothing is known, or -2 where only that the span
before has ended. `cost` `[Y + 2, Y]` says what an observation adds to each label: zeros for plain
scores, `κ·Err` for a margin, `-inf` off the observed label for a clamped chain. Its first row
belongs to -1, and its last one to -2, which counts from the end; where no tag is -2 it may be left
out (`[Y + 1, Y]`).

The forward pass keeps, of every position, the probability of each edge among the edges
into its target, given everything before:

    α(t, y) = cost[tags[t] + 1, y] + log Σ_{e → y} exp(α(t-1, source(e)) + s(t, e))
    w(t, e) = P(source(e) at t-1 | target(e) at t)                 sums to 1 for each label

and the backward pass hands probabilities of labels down: `P(e at t) = P(target(e) at t)·w(t, e)`.
Sums of such products cannot overflow, and what underflows does not matter, whatever the
size of the weights or the length of the chain; a position costs one `exp` an edge and one
`log` a label. (Forward-backward: Rabiner 1989, section V; METHOD.md, MEMB.)
"""

from __future__ import annotations

import math

import numpy as np

from ..jit import helper, kernel
from ..types import Floats1d, Floats2d, Ints1d, Pointers1d
from .lattice import Lattice


@helper
def _forward(lattice, scores, transitions, cost, tags, begin, end, w, marginals):  # type: ignore[no-untyped-def]
    """Fill `w` `[T, E]`, and the last row of `marginals` `[T + 1, Y]` with `P(y at the end)`.

    Other rows of `marginals` are overwritten with `α`, shifted to a largest value of zero.
    Returns the log-partition, `-inf` when no path is possible.
    """
    n_labels = len(lattice.first_edge) - 1
    marginals[0, :] = -np.inf
    marginals[0, lattice.start] = 0.0
    log_partition = 0.0
    for t in range(begin, end):
        row = t - begin
        observed = tags[t] + 1
        shift = -np.inf
        for y in range(n_labels):
            first, last = lattice.first_edge[y], lattice.first_edge[y + 1]
            best = -np.inf
            for e in range(first, last):
                before = marginals[row, lattice.source[e]]
                w[row, e] = scores[t, lattice.column[e]] + transitions[e] + before
                best = max(best, w[row, e])
            if best == -np.inf or (t == end - 1 and not lattice.final[y]):
                # -inf minus -inf has no value: a label that nothing reaches weighs nothing.
                w[row, first:last] = 0.0
                marginals[row + 1, y] = -np.inf
                continue
            total = 0.0
            for e in range(first, last):
                w[row, e] = math.exp(w[row, e] - best)
                total += w[row, e]
            for e in range(first, last):
                w[row, e] /= total
            marginals[row + 1, y] = best + math.log(total) + cost[observed, y]
            shift = max(shift, marginals[row + 1, y])
        if shift == -np.inf:
            return -np.inf
        for y in range(n_labels):
            marginals[row + 1, y] -= shift
        log_partition += shift
    total = 0.0
    for y in range(n_labels):
        marginals[end - begin, y] = math.exp(marginals[end - begin, y])
        total += marginals[end - begin, y]
    for y in range(n_labels):
        marginals[end - begin, y] /= total
    return log_partition + math.log(total)


@helper
def _backward(lattice, length, w, marginals):  # type: ignore[no-untyped-def]
    """Fill `marginals` `[T + 1, Y]` with `P(y at t)` from the last row up."""
    for row in range(length - 1, -1, -1):
        marginals[row, :] = 0.0
        for e in range(len(lattice.source)):
            marginals[row, lattice.source[e]] += marginals[row + 1, lattice.target[e]] * w[row, e]


@helper
def _add_edge_marginals(lattice, length, w, marginals, sign, counts, transition_counts):  # type: ignore[no-untyped-def]
    """Add `sign · P(edge at t)` to `counts` `[T, S]` and `transition_counts` `[E]`."""
    for row in range(length):
        for e in range(len(lattice.source)):
            marginal = sign * marginals[row + 1, lattice.target[e]] * w[row, e]
            counts[row, lattice.column[e]] += marginal
            transition_counts[e] += marginal


@helper
def _observed_path(  # type: ignore[no-untyped-def]
    lattice, scores, transitions, tags, begin, end, weight, counts, transition_counts
):
    """Score of a fully observed path; its edges are taken off the counts, each `weight` times."""
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


@kernel
def chain_losses(
    lattice: Lattice,
    scores: Floats2d,
    transitions: Floats1d,
    cost: Floats2d,
    clamp: Floats2d,
    tags: Ints1d,
    starts: Pointers1d,
    expected: Floats1d,
    observed: Floats1d,
    first: int,
    last: int,
    losses: Floats1d,
    transition_counts: Floats1d,
) -> None:
    """Losses and score gradients of the sequences `first <= i < last`.

        loss[i] = log Σ_y exp(score(y) + cost(y)) - log Σ_{y agrees with tags} exp(score(y))

    The gradient is `expected[i]` times that of the first term, less `observed[i]` times that of
    the second; both `[N]`, ones for that of the loss itself.

    lattice: the edges. scores `[T, S]`: OVERWRITTEN by the gradient of the losses with
    respect to them. transitions `[E]`. cost, clamp `[Y + 2, Y]`: see the module. tags
    `[T]`, negative where unobserved: the second sum then runs over all labels there, or over
    those that continue no span (METHOD.md, missing annotation). starts `[N + 1]`: sequence `i`
    is `starts[i]:starts[i + 1]`. losses `[N]`: written. transition_counts `[E]`: the gradient is
    added.
    """
    n_labels, n_edges = len(lattice.first_edge) - 1, len(lattice.source)
    longest = 0
    for i in range(first, last):
        longest = max(longest, starts[i + 1] - starts[i])
    w = np.empty((longest, n_edges))
    marginals = np.empty((longest + 1, n_labels))
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
        losses[i] = _forward(lattice, scores, transitions, cost, tags, begin, end, w, marginals)
        _backward(lattice, length, w, marginals)
        _add_edge_marginals(lattice, length, w, marginals, expected[i], counts, transition_counts)
        if n_observed == length:
            losses[i] -= _observed_path(
                lattice, scores, transitions, tags, begin, end, observed[i], counts,
                transition_counts,
            )  # fmt: skip
        else:
            losses[i] -= _forward(
                lattice, scores, transitions, clamp, tags, begin, end, w, marginals
            )
            _backward(lattice, length, w, marginals)
            _add_edge_marginals(
                lattice, length, w, marginals, -observed[i], counts, transition_counts
            )
        scores[begin:end] = counts[:length]


@kernel
def log_partitions(
    lattice: Lattice,
    scores: Floats2d,
    transitions: Floats1d,
    cost: Floats2d,
    tags: Ints1d,
    starts: Pointers1d,
    values: Floats1d,
) -> None:
    """Log-partition of every sequence, with which scores of paths become log-probabilities.

        values[i] = log Σ_y exp(score(y) + cost(y)),    log P(y) = score(y) - values[i]

    values `[N]`: written. Other arguments as in `chain_losses`; scores stay as they are.
    """
    longest = 0
    for i in range(len(starts) - 1):
        longest = max(longest, starts[i + 1] - starts[i])
    w = np.empty((longest, len(lattice.source)))
    marginals = np.empty((longest + 1, len(lattice.first_edge) - 1))
    for i in range(len(starts) - 1):
        values[i] = _forward(
            lattice, scores, transitions, cost, tags, starts[i], starts[i + 1], w, marginals
        )


@kernel
def edge_marginals(
    lattice: Lattice,
    scores: Floats2d,
    transitions: Floats1d,
    cost: Floats2d,
    tags: Ints1d,
    starts: Pointers1d,
    marginals_of_columns: Floats2d,
) -> None:
    """Add `P(edge at t)` to `marginals_of_columns` `[T, S]`, in the column of each edge.

    Other arguments as in `chain_losses`; scores stay as they are.
    """
    longest = 0
    for i in range(len(starts) - 1):
        longest = max(longest, starts[i + 1] - starts[i])
    w = np.empty((longest, len(lattice.source)))
    marginals = np.empty((longest + 1, len(lattice.first_edge) - 1))
    of_transitions = np.zeros(len(lattice.source))
    for i in range(len(starts) - 1):
        begin, end = starts[i], starts[i + 1]
        _forward(lattice, scores, transitions, cost, tags, begin, end, w, marginals)
        _backward(lattice, end - begin, w, marginals)
        _add_edge_marginals(
            lattice, end - begin, w, marginals, 1.0, marginals_of_columns[begin:end], of_transitions
        )


@helper
def _edge(lattice, previous, label):  # type: ignore[no-untyped-def]
    """The edge from one label to another; there has to be one."""
    for e in range(lattice.first_edge[label], lattice.first_edge[label + 1]):
        if lattice.source[e] == previous:
            return e
    return -1


@kernel
def path_scores(
    lattice: Lattice,
    scores: Floats2d,
    transitions: Floats1d,
    tags: Ints1d,
    starts: Pointers1d,
    values: Floats1d,
) -> None:
    """Write `Σ_t scores[t, column(e_t)] + transitions[e_t]` of each observed path to values `[N]`.

    scores `[T, S]`, transitions `[E]`, tags `[T]`, all observed, starts `[N + 1]`.
    """
    for i in range(len(starts) - 1):
        previous = lattice.start
        values[i] = 0.0
        for t in range(starts[i], starts[i + 1]):
            e = _edge(lattice, previous, tags[t])
            values[i] += scores[t, lattice.column[e]] + transitions[e]
            previous = tags[t]
