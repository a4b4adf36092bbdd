"""The best segmentations of a sequence, one or several, in order.

    δ(t, y) = max_d ( max_{e → first tag} (δ(t-d, source(e)) + s(t-d+1, e)) + W(t, l, d) )

with `W` and `s` of `systems.semi_markov.segments`; `y` is the last tag of a span of label `l`, or
outside. For the `k` best, each maximum is a list of the `k` best, merged. (docs/method.md, sections
2.4 and 2.10)
"""

from __future__ import annotations

import numpy as np

from ...inference.lattice import Chains, longest_of
from ...jit import helper, kernel, maker
from ...types import Floats1d, Floats2d, Ints1d, Ints2d
from .segments import Grid, Segments, edge_score, fill_within


@kernel
def best_segmentation(
    grid: Grid, chains: Chains, segments: Segments, path: Ints1d, scores: Floats1d
) -> None:
    """The best segmentation of every sequence, as tags; costs count.

    path `[T]`, scores `[N]`: written. Ties go to the edge listed first, and to the shorter span.
    """
    lattice, outside = chains.lattice, chains.lattice.start
    n_labels = len(lattice.first_edge) - 1
    longest = longest_of(chains.starts)
    most, n = segments.of_lengths.shape
    within = np.empty((longest, n, most))
    entering, closing = np.empty((longest, n_labels)), np.empty((longest + 1, n_labels))
    before = np.empty((longest, n_labels), dtype=np.int32)
    length_of = np.ones((longest + 1, n_labels), dtype=np.int32)
    for i in range(len(chains.starts) - 1):
        begin, end = chains.starts[i], chains.starts[i + 1]
        fill_within(grid, chains, segments, begin, end, within)
        closing[0, :] = -np.inf
        closing[0, outside] = 0.0
        for row in range(end - begin):
            for y in range(n_labels):
                entering[row, y] = -np.inf
                before[row, y] = outside
                for e in range(lattice.first_edge[y], lattice.first_edge[y + 1]):
                    score = closing[row, lattice.source[e]]
                    if score == -np.inf or lattice.continues[e]:
                        continue
                    score += edge_score(chains, begin + row, e)
                    if score > entering[row, y]:
                        entering[row, y] = score
                        before[row, y] = lattice.source[e]
            closing[row + 1, :] = -np.inf
            closing[row + 1, outside] = entering[row, outside]
            for label in range(n):
                single, first, last = grid.single[label], grid.first[label], grid.last[label]
                values = within[row, label]
                closing[row + 1, single] = entering[row, single] + values[0]
                best, length = -np.inf, 2
                for d in range(2, min(most, row + 1) + 1):
                    score = entering[row + 1 - d, first] + values[d - 1]
                    if score > best:
                        best, length = score, d
                if best > closing[row + 1, last]:
                    closing[row + 1, last] = best
                    length_of[row + 1, last] = length
        tag = -1
        for y in range(n_labels):
            if lattice.final[y] and (
                tag < 0 or closing[end - begin, y] > closing[end - begin, tag]
            ):
                tag = y
        scores[i] = closing[end - begin, tag]
        row = end - begin
        while row > 0:
            d = 1 if tag == outside else length_of[row, tag]
            first = tag
            for label in range(n):
                if tag == grid.single[label]:
                    d = 1
                elif tag == grid.last[label]:
                    first = grid.first[label]
                    path[begin + row - d + 1 : begin + row - 1] = lattice.target[
                        grid.inside_inside[label]
                    ]
            path[begin + row - 1] = tag
            path[begin + row - d] = first
            row -= d
            tag = before[row, first]


@helper
def _insert(scores, origins, size, score, one, two):  # type: ignore[no-untyped-def]
    """Enter a score in a list, the best first, behind its equals; the new size."""
    if size == len(scores):
        if score <= scores[size - 1]:
            return size
        place = size - 1
    else:
        place = size
        size += 1
    while place > 0 and scores[place - 1] < score:
        scores[place] = scores[place - 1]
        origins[place, 0], origins[place, 1] = origins[place - 1, 0], origins[place - 1, 1]
        place -= 1
    scores[place] = score
    origins[place, 0], origins[place, 1] = one, two
    return size


@helper
def _enter(chains, t, row, y, closing, n_closing, entering, origins):  # type: ignore[no-untyped-def]
    """The best ways to begin a segment at `t` with a tag: label before and rank; how many."""
    lattice = chains.lattice
    size = 0
    for e in range(lattice.first_edge[y], lattice.first_edge[y + 1]):
        if lattice.continues[e]:
            continue
        source = lattice.source[e]
        if n_closing[row, source] == 0:
            continue
        score = edge_score(chains, t, e)
        if score == -np.inf:
            continue
        for rank in range(n_closing[row, source]):
            value = closing[row, source, rank] + score
            if size == len(entering) and value <= entering[size - 1]:
                break
            size = _insert(entering, origins, size, value, source, rank)
    return size


@helper
def _close(row, tag, value, d, entering, n_entering, closing, origins, size):  # type: ignore[no-untyped-def]
    """Enter the best ways to end a segment of `d` tokens at a row; the new size."""
    begin = row + 1 - d
    for rank in range(n_entering[begin, tag]):
        score = entering[begin, tag, rank] + value
        if score == -np.inf or (size == len(closing) and score <= closing[size - 1]):
            break
        size = _insert(closing, origins, size, score, d, rank)
    return size


@kernel
def best_segmentations(
    grid: Grid, chains: Chains, segments: Segments, paths: Ints2d, scores: Floats2d, n_paths: Ints1d
) -> None:
    """The best segmentations of every sequence, as tags, without repeats; costs count.

    paths `[k, T]`: written, the k-th best in row `k`. scores `[N, k]`: written, in descending
    order. n_paths `[N]`: written; a short sequence has fewer than `k`, whose rows are left as they
    are.
    """
    lattice = chains.lattice
    capacity, outside = len(paths), lattice.start
    n_labels = len(lattice.first_edge) - 1
    longest = longest_of(chains.starts)
    most, n = segments.of_lengths.shape
    within = np.empty((longest, n, most))
    entering = np.empty((longest, n_labels, capacity))
    closing = np.empty((longest + 1, n_labels, capacity))
    # Of a way to begin: label and rank of what ended before. Of a way to end: length and rank.
    before = np.empty((longest, n_labels, capacity, 2), dtype=np.int32)
    length_of = np.empty((longest + 1, n_labels, capacity, 2), dtype=np.int32)
    n_entering = np.zeros((longest, n_labels), dtype=np.int32)
    n_closing = np.zeros((longest + 1, n_labels), dtype=np.int32)
    for i in range(len(chains.starts) - 1):
        begin, end = chains.starts[i], chains.starts[i + 1]
        fill_within(grid, chains, segments, begin, end, within)
        n_closing[0, :] = 0
        n_closing[0, outside] = 1
        closing[0, outside, 0] = 0.0
        for row in range(end - begin):
            for y in range(n_labels):
                n_entering[row, y] = _enter(
                    chains, begin + row, row, y, closing, n_closing, entering[row, y],
                    before[row, y],
                )  # fmt: skip
            n_closing[row + 1, :] = 0
            n_closing[row + 1, outside] = _close(
                row, outside, 0.0, 1, entering, n_entering, closing[row + 1, outside],
                length_of[row + 1, outside], 0,
            )  # fmt: skip
            for label in range(n):
                for d in range(1, min(most, row + 1) + 1):
                    tag = grid.single[label] if d == 1 else grid.first[label]
                    last = grid.single[label] if d == 1 else grid.last[label]
                    n_closing[row + 1, last] = _close(
                        row, tag, within[row, label, d - 1], d, entering, n_entering,
                        closing[row + 1, last], length_of[row + 1, last], n_closing[row + 1, last],
                    )  # fmt: skip
        n_paths[i] = _follow(
            grid, lattice, end - begin, (closing, n_closing), (before, length_of),
            paths[:, begin:end], scores[i],
        )  # fmt: skip


@maker
def _follow(grid, lattice, length, ended, origins, paths, scores):  # type: ignore[no-untyped-def]
    """Write the best paths from the end to the beginning; how many there are."""
    closing, n_closing = ended
    before, length_of = origins
    last = np.empty((len(scores), 2), dtype=np.int32)
    size = 0
    for y in range(closing.shape[1]):
        if lattice.final[y]:
            for rank in range(n_closing[length, y]):
                size = _insert(scores, last, size, closing[length, y, rank], y, rank)
    label_of = np.full(closing.shape[1], -1)
    for label in range(len(grid.single)):
        label_of[grid.single[label]] = label
        label_of[grid.last[label]] = label
    for k in range(size):
        row, tag, rank = length, last[k, 0], last[k, 1]
        while row > 0:
            d, entered = length_of[row, tag, rank, 0], length_of[row, tag, rank, 1]
            first = tag
            if tag != lattice.start:
                label = label_of[tag]
                first = grid.single[label] if d == 1 else grid.first[label]
                for t in range(row - d + 1, row - 1):
                    paths[k, t] = lattice.target[grid.inside_inside[label]]
            paths[k, row - 1] = tag
            paths[k, row - d] = first
            row -= d
            tag, rank = before[row, first, entered, 0], before[row, first, entered, 1]
    return size
