"""Losses of chains whose features see labels only, with vectors instead of lists of edges.

With `M[p, c] = exp(m[p, c] - max m)`, 0 where no edge leads from `p` to `c`, and
`x(t, c) = exp(s(t, c) + cost(t, c) - h(t))`, `h` the largest of the exponents at `t`, a pass
forward and one back are

    a(t, c) = x(t, c) Σ_p a(t-1, p) M[p, c] / z(t)           z(t): so that Σ_c a(t, c) = 1
    b(t-1, p) = Σ_c M[p, c] g(t, c)                          g(t, c) = x(t, c) b(t, c) / z(t)
    P(c at t) = a(t, c) b(t, c)        P(p at t-1, c at t) = a(t-1, p) M[p, c] g(t, c)

and the log-partition is `Σ_t log z(t) + h(t) + max m` (docs/method.md, section 2.2). What is lost
where `a` underflows matters only if `z` is tiny; such a sequence goes to `chain_losses`.
Labels, `m` and `m0` are those of `inference.viterbi`, and at the end `x = 0` off the final labels.
"""

from __future__ import annotations

import math

import numpy as np

from ..jit import helper, kernel, maker
from ..types import Floats1d
from .chain import count_observed, log_partitions, observed_path
from .chain_losses import chain_losses, computed_by
from .lattice import Chains, LossTerms, longest_of
from .viterbi import transition_matrix

_SMALLEST = 1e-60
"""Of `z`; doubles go down to 1e-308."""


@helper
def _add_product(vector, matrix, out):  # type: ignore[no-untyped-def]
    """`out[c] += Σ_p vector[p] · matrix[p, c]`, four `p` at a time."""
    n = len(vector)
    p = 0
    while p + 4 <= n:
        u, v, x, y = vector[p], vector[p + 1], vector[p + 2], vector[p + 3]
        for c in range(n):
            out[c] += (u * matrix[p, c] + v * matrix[p + 1, c]) + (
                x * matrix[p + 2, c] + y * matrix[p + 3, c]
            )
        p += 4
    for q in range(p, n):
        for c in range(n):
            out[c] += vector[q] * matrix[q, c]


@maker
def _exponentials(chains):  # type: ignore[no-untyped-def]
    """`m0`, `M`, `max m`, and the label of each column; the column of each label."""
    n = chains.scores.shape[1]
    initial, matrix, labels, columns = transition_matrix(chains.lattice, chains.transitions, n)
    shift = matrix.max()
    return (initial, np.exp(matrix - shift), shift, labels), columns


@maker
def _room_for(starts, n):  # type: ignore[no-untyped-def]
    """Room for `a`, `x` and `z` of the longest sequence, and for three vectors."""
    longest = longest_of(starts)
    return np.empty((longest, n)), np.empty((longest, n)), np.empty(longest), np.empty((3, n))


@helper
def _forward(chains, cost, i, exponentials, room):  # type: ignore[no-untyped-def]
    """Fill `a`, `x` `[T, n]` and `z` `[T]`; the log-partition, or -inf where `z` is tiny."""
    lattice, scores, _, _, tags, starts = chains
    initial, matrix, shift, labels = exponentials
    a, x, z, _ = room
    begin, end = starts[i], starts[i + 1]
    n = len(initial)
    log_partition = 0.0
    for t in range(begin, end):
        row = t - begin
        observed = tags[t] + 1
        highest = -np.inf
        for c in range(n):
            value = scores[t, c] + cost[observed, labels[c]]
            if row == 0:
                value += initial[c]
            if t == end - 1 and not lattice.final[labels[c]]:
                value = -np.inf
            x[row, c] = value
            highest = max(highest, value)
        for c in range(n):
            x[row, c] = math.exp(x[row, c] - highest)
            a[row, c] = x[row, c] if row == 0 else 0.0
        if row > 0:
            _add_product(a[row - 1], matrix, a[row])
            for c in range(n):
                a[row, c] *= x[row, c]
            log_partition += shift
        total = 0.0
        for c in range(n):
            total += a[row, c]
        if not total > _SMALLEST:
            return -np.inf
        z[row] = total
        for c in range(n):
            a[row, c] /= total
        log_partition += highest + math.log(total)
    return log_partition


@maker
def _backward(matrix_back, length, room, sign, counts, pairs, first_counts):  # type: ignore[no-untyped-def]
    """Add `sign · P(c at t)` to `counts`, that of the first position to `first_counts` too.

    And `sign · a(t-1, p) g(t, c)` to `pairs` `[n, n]`. matrix_back: `M` transposed.
    """
    a, x, z, (b, before, g) = room
    n = a.shape[1]
    b[:] = 1.0
    for row in range(length - 1, -1, -1):
        for c in range(n):
            counts[row, c] += sign * a[row, c] * b[c]
            g[c] = x[row, c] * b[c] / z[row]
        if row == 0:
            for c in range(n):
                first_counts[c] += sign * a[row, c] * b[c]
            return
        for p in range(n):
            weight = sign * a[row - 1, p]
            for c in range(n):
                pairs[p, c] += weight * g[c]
        before[:] = 0.0
        _add_product(g, matrix_back, before)
        b, before = before, b


@kernel
def _dense_losses(chains: Chains, terms: LossTerms, transition_counts: Floats1d) -> int:
    """As `dense_losses`, up to a sequence that has to be computed otherwise; its number."""
    lattice, scores, _, cost, tags, starts = chains
    clamp, (expected, observed), first, last, losses = terms
    exponentials, columns = _exponentials(chains)
    matrix = exponentials[1]
    matrix_back = matrix.T.copy()
    n = len(matrix)
    room, clamped = _room_for(starts[first : last + 1], n), _room_for(starts[first : last + 1], n)
    counts = np.empty_like(room[0])
    pairs = np.zeros((n, n))
    first_counts = np.zeros(n)
    reached = last
    for i in range(first, last):
        begin, end = starts[i], starts[i + 1]
        length = end - begin
        n_observed = count_observed(tags, begin, end)
        if n_observed == 0:
            losses[i] = 0.0
            scores[begin:end] = 0.0
            continue
        everything = _forward(chains, cost, i, exponentials, room)
        agreeing = 0.0
        if n_observed < length:
            agreeing = _forward(chains, clamp, i, exponentials, clamped)
        if everything == -np.inf or agreeing == -np.inf:
            reached = i
            break
        counts[:length] = 0.0
        _backward(matrix_back, length, room, expected[i], counts, pairs, first_counts)
        if n_observed == length:
            agreeing = observed_path(chains, begin, end, observed[i], counts, transition_counts)
        else:
            _backward(matrix_back, length, clamped, -observed[i], counts, pairs, first_counts)
        losses[i] = everything - agreeing
        for t in range(length):
            for c in range(n):
                scores[begin + t, c] = counts[t, c]
    for e in range(len(lattice.source)):
        p, c = columns[lattice.source[e]], lattice.column[e]
        if lattice.source[e] == lattice.start:
            transition_counts[e] += first_counts[c]
        if p >= 0:
            transition_counts[e] += pairs[p, c] * matrix[p, c]
    return reached


def dense_losses(chains: Chains, terms: LossTerms, transition_counts: Floats1d) -> None:
    """As `chain_losses.chain_losses`, of a lattice without label pairs; scores are OVERWRITTEN."""
    computed_by(_dense_losses, chain_losses, chains, terms, transition_counts)


@kernel
def dense_log_partitions(chains: Chains, values: Floats1d) -> None:
    """As `chain.log_partitions`, for a lattice without label pairs."""
    lattice, scores, transitions, cost, tags, starts = chains
    exponentials, _ = _exponentials(chains)
    room = _room_for(starts, scores.shape[1])
    for i in range(len(values)):
        values[i] = _forward(chains, cost, i, exponentials, room)
        if values[i] == -np.inf:
            alone = Chains(lattice, scores, transitions, cost, tags, starts[i : i + 2])
            log_partitions(alone, values[i : i + 1])
