"""Viterbi where any label may follow any other: part of speech, and other free tag sets.

On such a lattice (`lattice.free_lattice`) edges need no lists. With `Y - 1` labels besides the
start, `m[p, c]` the transition from label `p + 1` to `c + 1`, `m0[c]` that from the start, and

    δ(0, c) = m0[c] + s(0, c)        δ(t, c) = max_p (δ(t-1, p) + m[p, c]) + s(t, c)

a step is `(Y - 1)²` additions and comparisons on neighbouring numbers, several of which the
processor does at once: ten times as fast as `chain.viterbi`. It is exact, with no label or
transition left out. Where a path came from is not written down; it is found again on the way
back, by the same sums.
"""

from __future__ import annotations

import numpy as np

from ..jit import helper, kernel
from ..types import Floats1d, Floats2d, Ints1d, Pointers1d
from .chain import viterbi
from .lattice import Lattice


@helper
def _is_free(lattice, width):  # type: ignore[no-untyped-def]
    """Whether the lattice is that of `free_lattice` without label pairs."""
    n = len(lattice.first_edge) - 2
    return lattice.first_edge[1] == 0 and len(lattice.source) == n * (n + 1) and width == n


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
def free_viterbi(
    scores: Floats2d,
    transitions: Floats1d,
    cost: Floats2d,
    tags: Ints1d,
    starts: Pointers1d,
    path: Ints1d,
    path_scores: Floats1d,
) -> None:
    """The best label sequence of every sequence on a free lattice, ties to the lowest label.

    scores `[T, Y - 1]`, transitions `[(Y - 1)·Y]`, sorted by target; path `[T]`, path_scores
    `[N]`: written. Other arguments as in `chain.chain_losses`.
    """
    n = scores.shape[1]
    arriving = transitions.reshape(n, n + 1)
    matrix = arriving[:, 1:].T.copy()
    longest = 0
    for i in range(len(starts) - 1):
        longest = max(longest, starts[i + 1] - starts[i])
    delta = np.empty((longest, n))
    for i in range(len(starts) - 1):
        begin, end = starts[i], starts[i + 1]
        for t in range(begin, end):
            row = delta[t - begin]
            if t == begin:
                row[:] = arriving[:, 0]
            else:
                _step(delta[t - begin - 1], matrix, row)
            observed = tags[t] + 1
            for c in range(n):
                row[c] += scores[t, c] + cost[observed, c + 1]
        if begin == end:
            path_scores[i] = 0.0
            continue
        label = int(np.argmax(delta[end - 1 - begin]))
        path_scores[i] = delta[end - 1 - begin, label]
        path[end - 1] = label + 1
        for t in range(end - 2, begin - 1, -1):
            row = delta[t - begin]
            best = -np.inf
            origin = 0
            for p in range(n):
                if row[p] + matrix[p, label] > best:
                    best = row[p] + matrix[p, label]
                    origin = p
            label = origin
            path[t] = label + 1


@kernel
def best_paths(
    lattice: Lattice,
    scores: Floats2d,
    transitions: Floats1d,
    cost: Floats2d,
    tags: Ints1d,
    starts: Pointers1d,
    path: Ints1d,
    path_scores: Floats1d,
) -> None:
    """The best label sequence of every sequence, by whichever kernel is fastest.

    Arguments as in `chain.viterbi`.
    """
    if _is_free(lattice, scores.shape[1]):
        free_viterbi(scores, transitions, cost, tags, starts, path, path_scores)
    else:
        viterbi(lattice, scores, transitions, cost, tags, starts, path, path_scores)
