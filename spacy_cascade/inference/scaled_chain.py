"""Forward-backward on a linear chain in scaled probabilities.

With `s(t, e)` as in `inference.chain` and `h(t)` the largest of `s(t, ·)`,

    x(t, e) = exp(s(t, e) - h(t))
    a(t, y) = Σ_{e → y} a(t-1, source(e)) x(t, e) / z(t)     z(t): so that Σ_y a(t, y) = 1
    w(t, e) = a(t-1, source(e)) x(t, e) / (a(t, target(e)) z(t))

and the log-partition is `Σ_t log z(t) + h(t)`; at the end `a = 0` off the final labels. That takes
one exponential an edge and one logarithm a position. No product is so small that it is rounded to
zero: a sequence with a smaller `x` or `a` than the two constants below has to be computed in log
space. That is rare, and left to other kernels, for compilation takes as long as these are large
(docs/method.md, sections 1.4 and 2.1).
"""

from __future__ import annotations

import math

import numpy as np

from ..jit import helper, maker

_SMALLEST_EDGE = 1e-100
"""Of `x`; doubles go down to 1e-308."""
_SMALLEST_LABEL = 1e-150
"""Of `a`."""


@helper
def scaled_sums(chains, cost, begin, end, is_last, room):  # type: ignore[no-untyped-def]
    """Fill `x` `[T, E]`, `a` `[T + 1, Y]`, `z` `[T]`; the log-partition, -inf where one is tiny.

    Of the tokens from `begin` to `end`, from `a[0]` on. is_last: the sequence ends there.
    """
    lattice, scores, transitions, _, tags, _ = chains
    x, a, z = room
    n_labels, n_edges = a.shape[1], len(lattice.source)
    log_partition = 0.0
    for t in range(begin, end):
        row, observed = t - begin, tags[t] + 1
        highest = -np.inf
        for e in range(n_edges):
            score = scores[t, lattice.column[e]] + transitions[e]
            x[row, e] = score + cost[observed, lattice.target[e]]
            highest = max(highest, x[row, e])
        if not math.isfinite(highest):
            return -np.inf
        total = 0.0
        for y in range(n_labels):
            reached = 0.0
            for e in range(lattice.first_edge[y], lattice.first_edge[y + 1]):
                share = math.exp(x[row, e] - highest)
                if share < _SMALLEST_EDGE and x[row, e] > -np.inf:
                    return -np.inf
                reached += a[row, lattice.source[e]] * share
                x[row, e] = share
            if is_last and t == end - 1 and not lattice.final[y]:
                reached = 0.0
            a[row + 1, y] = reached
            total += reached
        # The negation holds for what is no number, too.
        if not total > 0.0:
            return -np.inf
        for y in range(n_labels):
            a[row + 1, y] /= total
            if 0.0 < a[row + 1, y] < _SMALLEST_LABEL:
                return -np.inf
        z[row] = total
        log_partition += highest + math.log(total)
    return log_partition


@helper
def scaled_forward(chains, cost, i, room):  # type: ignore[no-untyped-def]
    """As `scaled_sums` of sequence `i`."""
    lattice, starts, a = chains.lattice, chains.starts, room[1]
    for y in range(a.shape[1]):
        a[0, y] = 1.0 if y == lattice.start else 0.0
    return scaled_sums(chains, cost, starts[i], starts[i + 1], True, room)


@maker
def scaled_room(lattice, longest):  # type: ignore[no-untyped-def]
    """Room for `x`, `a` and `z` of so many tokens."""
    n_labels, n_edges = len(lattice.first_edge) - 1, len(lattice.source)
    return np.empty((longest, n_edges)), np.empty((longest + 1, n_labels)), np.empty(longest)


@helper
def scaled_backward(lattice, length, after, room):  # type: ignore[no-untyped-def]
    """Write `w` over `x` and the marginals over `a`, which takes half the room.

    after `[Y]`: `a` of the last token, in whose place the marginals stand already; overwritten.
    """
    x, a, z = room
    n_labels = a.shape[1]
    for row in range(length - 1, -1, -1):
        for y in range(n_labels):
            arrived = after[y] * z[row]
            share = 1.0 / arrived if arrived > 0.0 else 0.0
            for e in range(lattice.first_edge[y], lattice.first_edge[y + 1]):
                x[row, e] = a[row, lattice.source[e]] * x[row, e] * share
        for y in range(n_labels):
            after[y] = a[row, y]
            a[row, y] = 0.0
        for y in range(n_labels):
            for e in range(lattice.first_edge[y], lattice.first_edge[y + 1]):
                a[row, lattice.source[e]] += a[row + 1, y] * x[row, e]


@maker
def scaled_marginals(chains, i, room):  # type: ignore[no-untyped-def]
    """As `chain.forward_backward` of sequence `i`; whether its numbers are large enough."""
    if scaled_forward(chains, chains.cost, i, room) == -np.inf:
        return False
    length = chains.starts[i + 1] - chains.starts[i]
    scaled_backward(chains.lattice, length, room[1][length].copy(), room)
    return True
