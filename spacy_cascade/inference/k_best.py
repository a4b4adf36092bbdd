"""The N best label sequences of a chain, in order.

Every path is the best one but for a *deviation*: it leaves a better path at some position by
another edge, and goes on towards the beginning as the best path from there does. It costs

    gap(t, e) = δ(t, target(e)) - (δ(t-1, source(e)) + s(t, e))

with `δ` and `s` of the Viterbi recursion. Each path found offers its deviations before the position
of its own, so that every path is offered once, and the best of what has been offered is the next
one. The least gap at each label says where no deviation can be among the best any more.
(docs/method.md, section 2.4)
"""

from __future__ import annotations

import numpy as np

from ..jit import helper, kernel
from ..types import Floats2d, Ints1d, Ints2d
from .lattice import Chains, longest_of


@helper
def _forward_best(chains, i, delta, best_edge, least_gap):  # type: ignore[no-untyped-def]
    """Fill `delta` `[T + 1, Y]`, `best_edge` and `least_gap` `[T, Y]`; ties to the first edge.

    Terms are added in the order of `viterbi.viterbi`, so that both break the same ties.
    """
    lattice, scores, transitions, _, _, starts = chains
    delta[0, :] = -np.inf
    delta[0, lattice.start] = 0.0
    for t in range(starts[i], starts[i + 1]):
        row = t - starts[i]
        for y in range(len(lattice.first_edge) - 1):
            best, second, edge = -np.inf, -np.inf, -1
            for e in range(lattice.first_edge[y], lattice.first_edge[y + 1]):
                s = scores[t, lattice.column[e]] + transitions[e] + delta[row, lattice.source[e]]
                if s > best:
                    best, second, edge = s, best, e
                else:
                    second = max(second, s)
            delta[row + 1, y], best_edge[row, y] = best, edge
            least_gap[row, y] = best - second if second > -np.inf else np.inf


@helper
def _offer(ranked, origin, size, score, position, edge, parent):  # type: ignore[no-untyped-def]
    """Enter a path in the ranking of at most `len(ranked)`, behind its equals; the new size."""
    if size == len(ranked):
        if score <= ranked[size - 1]:
            return size
        place = size - 1
    else:
        place = size
        size += 1
    while place > 0 and ranked[place - 1] < score:
        ranked[place] = ranked[place - 1]
        for part in range(3):
            origin[place, part] = origin[place - 1, part]
        place -= 1
    ranked[place] = score
    origin[place, 0], origin[place, 1], origin[place, 2] = position, edge, parent
    return size


@helper
def _follow(lattice, best_edge, begin, row, label, path):  # type: ignore[no-untyped-def]
    """Write the best path that ends with `label` at `row`, from there to the beginning."""
    while row >= 0:
        path[begin + row] = label
        label = lattice.source[best_edge[row, label]]
        row -= 1


@helper
def _offer_deviations(chains, begin, row, rank, path, found, room, size):  # type: ignore[no-untyped-def]
    """Enter the deviations of a path before a row; the new size of the ranking."""
    lattice, scores, transitions = chains.lattice, chains.scores, chains.transitions
    ranked, origin = found
    delta, best_edge, least_gap = room
    for t in range(row - 1, -1, -1):
        y = path[begin + t]
        if size == len(ranked) and ranked[rank] - least_gap[t, y] <= ranked[size - 1]:
            continue
        for e in range(lattice.first_edge[y], lattice.first_edge[y + 1]):
            s = scores[begin + t, lattice.column[e]] + transitions[e]
            s += delta[t, lattice.source[e]]
            if e != best_edge[t, y] and s > -np.inf:
                gap = delta[t + 1, y] - s
                size = _offer(ranked, origin, size, ranked[rank] - gap, t, e, rank)
    return size


@kernel
def best_paths(chains: Chains, paths: Ints2d, path_scores: Floats2d, n_paths: Ints1d) -> None:
    """The best label sequences of every sequence, without repeats; costs do not count.

    paths `[N, T]`: written, the k-th best labels in row `k`; path_scores `[n, N]`: written, in
    descending order, of equals first the one that leaves its better nearer to the end. n_paths
    `[n]`: written; a short sequence has fewer than `N` paths, whose rows are left as they are.
    """
    lattice, starts = chains.lattice, chains.starts
    n_labels = len(lattice.first_edge) - 1
    longest = longest_of(starts)
    delta, least_gap = np.empty((longest + 1, n_labels)), np.empty((longest, n_labels))
    best_edge = np.empty((longest, n_labels), dtype=np.int32)
    room = delta, best_edge, least_gap
    # Of each path: the row of its deviation, the edge taken there, and the path it left.
    origin = np.empty((len(paths), 3), dtype=np.int32)
    for i in range(len(starts) - 1):
        begin, end = starts[i], starts[i + 1]
        ranked = path_scores[i]
        _forward_best(chains, i, delta, best_edge, least_gap)
        size = 0
        for y in range(n_labels):
            if lattice.final[y] and delta[end - begin, y] > -np.inf:
                size = _offer(ranked, origin, size, delta[end - begin, y], end - begin, y, -1)
        rank = 0
        while rank < size:
            row, edge, parent = origin[rank, 0], origin[rank, 1], origin[rank, 2]
            path = paths[rank]
            if parent < 0:
                _follow(lattice, best_edge, begin, row - 1, edge, path)
            else:
                path[begin + row : end] = paths[parent, begin + row : end]
                _follow(lattice, best_edge, begin, row - 1, lattice.source[edge], path)
            size = _offer_deviations(chains, begin, row, rank, path, (ranked, origin), room, size)
            rank += 1
        n_paths[i] = size
