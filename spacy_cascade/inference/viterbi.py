"""Viterbi with a list of edges; and with a matrix, where features see labels only.

A lattice without label pairs needs no list of edges. With `m[p, c]` the transition from label `p`
to `c`, `-inf` where there is none, `m0[c]` that from the start, and

    δ(0, c) = m0[c] + s(0, c)        δ(t, c) = max_p (δ(t-1, p) + m[p, c]) + s(t, c)

a step works on neighbouring numbers, several of which the processor does at once: with 42 parts of
speech ten times as fast as `viterbi`, and as exact. Where a path came from is not written down; it
is found again on the way back, by the same sums.

The `n` labels here are those with a score column, `n = S`, all but those that nothing leads to, in
the order of the columns.
"""

from __future__ import annotations

import numpy as np

from ..jit import helper, kernel, maker
from ..types import Floats1d, Ints1d
from .lattice import Chains, longest_of


@kernel
def viterbi(chains: Chains, path: Ints1d, path_scores: Floats1d) -> None:
    """The best label sequence of every sequence, ties to the edge listed first.

        δ(t, y) = max_{e → y} (δ(t-1, source(e)) + s(t, e))        `s` as in `inference.chain`

    path `[T]`, path_scores `[N]`: written. (docs/method.md, section 2.3)
    """
    lattice, scores, transitions, cost, tags, starts = chains
    n_labels = len(lattice.first_edge) - 1
    came_from = np.empty((longest_of(starts), n_labels), dtype=np.int32)
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


@maker
def transition_matrix(lattice, transitions, n):  # type: ignore[no-untyped-def]
    """`m0` `[n]` and `m` `[n, n]`, `-inf` where there is no edge.

    And the label of each column `[n]`, and the column of each label `[Y]`, -1 where it has none.
    """
    column = np.full(len(lattice.first_edge) - 1, -1)
    label = np.empty(n, dtype=np.int32)
    for e in range(len(lattice.source)):
        column[lattice.target[e]] = lattice.column[e]
        label[lattice.column[e]] = lattice.target[e]
    initial = np.full(n, -np.inf)
    matrix = np.full((n, n), -np.inf)
    for e in range(len(lattice.source)):
        if lattice.source[e] == lattice.start:
            initial[lattice.column[e]] = transitions[e]
        if column[lattice.source[e]] >= 0:
            matrix[column[lattice.source[e]], lattice.column[e]] = transitions[e]
    return initial, matrix, label, column


@helper
def _step(before, matrix, after):  # type: ignore[no-untyped-def]
    """`after[c] = max_p (before[p] + matrix[p, c])`, four `p` at a time."""
    n = len(after)
    for c in range(n):
        after[c] = before[0] + matrix[0, c]
    p = 1
    while p + 4 <= n:
        for c in range(n):
            u, v = before[p] + matrix[p, c], before[p + 1] + matrix[p + 1, c]
            x, y = before[p + 2] + matrix[p + 2, c], before[p + 3] + matrix[p + 3, c]
            u = u if u > v else v
            x = x if x > y else y
            u = u if u > x else x
            after[c] = u if u > after[c] else after[c]
        p += 4
    for q in range(p, n):
        for c in range(n):
            u = before[q] + matrix[q, c]
            after[c] = u if u > after[c] else after[c]


@kernel
def dense_viterbi(chains: Chains, path: Ints1d, path_scores: Floats1d) -> None:
    """As `viterbi`, of a lattice without label pairs; ties to the lowest label."""
    lattice, scores, transitions, cost, tags, starts = chains
    n = scores.shape[1]
    initial, matrix, labels, _ = transition_matrix(lattice, transitions, n)
    delta = np.empty((longest_of(starts), n))
    for i in range(len(starts) - 1):
        begin, end = starts[i], starts[i + 1]
        for t in range(begin, end):
            row = delta[t - begin]
            if t > begin:
                _step(delta[t - begin - 1], matrix, row)
            observed = tags[t] + 1
            for c in range(n):
                before = initial[c] if t == begin else row[c]
                row[c] = before + scores[t, c] + cost[observed, labels[c]]
        if begin == end:
            path_scores[i] = 0.0
            continue
        row = delta[end - 1 - begin]
        column = -1
        for c in range(n):
            if lattice.final[labels[c]] and (column < 0 or row[c] > row[column]):
                column = c
        path_scores[i] = row[column]
        path[end - 1] = labels[column]
        for t in range(end - 2, begin - 1, -1):
            row = delta[t - begin]
            best = -np.inf
            origin = 0
            for p in range(n):
                if row[p] + matrix[p, column] > best:
                    best = row[p] + matrix[p, column]
                    origin = p
            column = origin
            path[t] = labels[column]


@kernel
def best_paths(chains: Chains, path: Ints1d, path_scores: Floats1d) -> None:
    """As `viterbi`, by whichever kernel is fastest; for other kernels."""
    if chains.scores.shape[1] < len(chains.lattice.source):
        dense_viterbi(chains, path, path_scores)
    else:
        viterbi(chains, path, path_scores)


def best_labellings(chains: Chains) -> tuple[Ints1d, Floats1d]:
    """The best labels of every sequence, int32 `[T]`, and their scores, float64 `[N]`."""
    path = np.empty(len(chains.scores), dtype=np.int32)
    scores = np.empty(len(chains.starts) - 1)
    # As `best_paths`, without the compilation of a kernel that nothing calls.
    is_dense = chains.scores.shape[1] < len(chains.lattice.source)
    (dense_viterbi if is_dense else viterbi)(chains, path, scores)
    return path, scores
