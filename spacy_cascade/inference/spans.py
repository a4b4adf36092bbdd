"""Posteriors of spans of a chain, all likely spans, and the best set of spans without overlap.

With `w` and the probabilities of labels of `chain`, a span that ends before `e` reaches back to
label `y` at `t` with probability

    a(e - 1, y) = P(y at e - 1, and no span goes on at e)
    a(t - 1, source) = Σ a(t, target)·w(t, edge)          over edges that stay inside a span

and it is the span `[t, e)` of label `l` with probability

    p(t, e, l) = Σ_{y of l} a(t, y) Σ w(t, edge)          over edges to y that do not

`Σ_y a(t, y)` bounds all spans that end there and start at `t` or before; the way back ends where it
is less than the probability that is asked for. (docs/method.md, sections 2.6 to 2.8)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ..jit import helper, kernel
from ..types import Bools1d, Floats1d, Floats2d, Ints1d, Ints2d, Pointers1d
from .chain import forward_backward, room_for
from .lattice import Chains, longest_of
from .scaled_chain import scaled_backward, scaled_marginals, scaled_room, scaled_sums
from .schemes import Spans
from .structure import Potentials

_BLOCK = 1 << 12
"""Tokens of a long sequence whose probabilities are in memory at the same time."""


@helper
def _last(lattice, length, t, w, marginals, mass):  # type: ignore[no-untyped-def]
    """Fill `mass` `[Y]` with `a(t, y)` where a span ends after `t`."""
    if t == length - 1:
        for y in range(len(mass)):
            mass[y] = marginals[length, y]
        return
    mass[:] = 0.0
    for e in range(len(lattice.source)):
        if not lattice.continues[e]:
            mass[lattice.source[e]] += marginals[t + 2, lattice.target[e]] * w[t + 1, e]


@helper
def _first(lattice, span_labels, w_row, mass, of_label):  # type: ignore[no-untyped-def]
    """Fill `of_label` `[L]` with the probabilities of the spans that start here."""
    of_label[:] = 0.0
    for y in range(len(mass)):
        if mass[y] == 0.0:
            continue
        entering = 0.0
        for e in range(lattice.first_edge[y], lattice.first_edge[y + 1]):
            if not lattice.continues[e]:
                entering += w_row[e]
        of_label[span_labels[y]] += mass[y] * entering


@kernel
def likely_spans(
    chains: Chains, span_labels: Ints1d, least: float, spans: Spans, posteriors: Floats1d
) -> int:
    """Every span with a probability of at least `least`; returns how many there are.

    span_labels `[Y]`: as `TagSet.span_labels`. least: above 0; at most `1 / least` spans have the
    same end. spans, posteriors `[P]`: written as far as they go, by end, and those of one end
    backwards.
    """
    lattice, scores, transitions, cost, tags, starts = chains
    room = scaled_room(lattice, longest_of(starts))
    w, marginals, _ = room
    mass, before = np.empty(len(span_labels)), np.empty(len(span_labels))
    of_label = np.empty(max(span_labels) + 1)
    inside = np.flatnonzero(lattice.continues)
    n_found = 0
    for i in range(len(starts) - 1):
        begin, end = starts[i], starts[i + 1]
        length = end - begin
        if not scaled_marginals(chains, i, room):
            forward_backward(lattice, scores, transitions, cost, tags, begin, end, w, marginals)
        for last in range(length):
            _last(lattice, length, last, w, marginals, mass)
            for y in range(len(mass)):
                mass[y] = mass[y] if span_labels[y] >= 0 else 0.0
            t = last
            while t >= 0 and mass.sum() >= least:
                _first(lattice, span_labels, w[t], mass, of_label)
                for label in range(len(of_label)):
                    if of_label[label] < least:
                        continue
                    if n_found < len(posteriors):
                        spans.start[n_found] = begin + t
                        spans.end[n_found] = begin + last + 1
                        spans.label[n_found] = label
                        posteriors[n_found] = min(1.0, of_label[label])
                    n_found += 1
                before[:] = 0.0
                for e in inside:
                    before[lattice.source[e]] += mass[lattice.target[e]] * w[t, e]
                mass, before = before, mass
                t -= 1
    return n_found


@helper
def _posterior(lattice, path, begin, end, first, after, w, marginals):  # type: ignore[no-untyped-def]
    """Probability of the span `[first, after)` of a sequence `[begin, end)`."""
    mass = marginals[after - begin, path[after - 1]]
    if after < end:
        mass = 0.0
        for e in range(len(lattice.source)):
            if lattice.source[e] == path[after - 1] and not lattice.continues[e]:
                mass += marginals[after - begin + 1, lattice.target[e]] * w[after - begin, e]
    for t in range(after - 1, first - 1, -1):
        arriving = 0.0
        for e in range(lattice.first_edge[path[t]], lattice.first_edge[path[t] + 1]):
            if t == first:
                if not lattice.continues[e]:
                    arriving += w[t - begin, e]
            elif lattice.continues[e] and lattice.source[e] == path[t - 1]:
                arriving += w[t - begin, e]
        mass *= arriving
    return min(1.0, mass)


@kernel
def _scaled_posteriors(
    chains: Chains,
    path: Ints1d,
    spans: Spans,
    sequences: Ints1d,
    blocks: Pointers1d,
    p: int,
    posteriors: Floats1d,
) -> int:
    """As `span_posteriors`, of the spans from `p` on, up to a sequence that has to be computed in
    log space; returns the number of its first span.

    Of a sequence of several blocks, the forward sums before each are kept on the way there
    (`reached`), and the others are computed once more on the way back. A block has one token of the
    next, too, where paths leave a span; `beyond` has the marginals of that token.
    """
    lattice, starts = chains.lattice, chains.starts
    room = scaled_room(lattice, longest_of(blocks) + 1)
    w, marginals, _ = room
    n_labels = marginals.shape[1]
    after, beyond = np.empty(n_labels), np.empty(n_labels)
    k = 0
    while p < len(posteriors):
        i, q = sequences[p], p
        while q < len(posteriors) and sequences[q] == i:
            q += 1
        next_p = q
        while blocks[k] < starts[i]:
            k += 1
        n_blocks = 1
        while blocks[k + n_blocks] < starts[i + 1]:
            n_blocks += 1
        reached = np.zeros((n_blocks, n_labels))
        reached[0, lattice.start] = 1.0
        for step in range(2 * n_blocks - 1):
            block = min(step, 2 * n_blocks - 2 - step)
            begin, end = blocks[k + block], blocks[k + block + 1]
            length = min(end + 1, starts[i + 1]) - begin
            is_last = begin + length == starts[i + 1]
            for y in range(n_labels):
                marginals[0, y] = reached[block, y]
            sums = scaled_sums(chains, chains.cost, begin, begin + length, is_last, room)
            if sums == -np.inf:
                return p
            if step < n_blocks - 1:
                for y in range(n_labels):
                    reached[block + 1, y] = marginals[end - begin, y]
                continue
            for y in range(n_labels):
                after[y] = marginals[length, y]
                if end < starts[i + 1]:
                    marginals[length, y] = beyond[y]
            scaled_backward(lattice, length, after, room)
            for y in range(n_labels):
                beyond[y] = marginals[1, y]
            while q > p and spans.start[q - 1] >= begin:
                q -= 1
                posteriors[q] = _posterior(
                    lattice, path, begin, starts[i + 1], spans.start[q], spans.end[q], w, marginals
                )
        p = next_p
    return p


@kernel
def _log_space_posteriors(
    chains: Chains, path: Ints1d, spans: Spans, sequences: Ints1d, p: int, posteriors: Floats1d
) -> int:
    """As `span_posteriors`, of the spans of one sequence, of which `p` is the first; that after."""
    lattice, scores, transitions, cost, tags, starts = chains
    i = sequences[p]
    begin, end = starts[i], starts[i + 1]
    w, marginals = room_for(lattice, starts[i : i + 2])
    forward_backward(lattice, scores, transitions, cost, tags, begin, end, w, marginals)
    while p < len(posteriors) and sequences[p] == i:
        first, after = spans.start[p], spans.end[p]
        posteriors[p] = _posterior(lattice, path, begin, end, first, after, w, marginals)
        p += 1
    return p


def span_posteriors(
    chains: Chains, path: Ints1d, spans: Spans, sequences: Ints1d, posteriors: Floats1d
) -> None:
    """Exact probability that a sequence has each given span, whatever the rest of it.

    The paths summed over enter the span by an edge that does not continue a span, follow `path`
    inside it, and leave it by an edge that does not continue it. Long sequences are computed in
    blocks, in the room of one.

    path `[T]`: the labels that the spans would have. spans `[P]`: in the order of their starts,
    without overlap; their own labels do not count. sequences `[P]`: of the spans. posteriors `[P]`:
    written.
    """
    blocks = _blocks(chains.starts, spans)
    p = _scaled_posteriors(chains, path, spans, sequences, blocks, 0, posteriors)
    while p < len(posteriors):
        p = _log_space_posteriors(chains, path, spans, sequences, p, posteriors)
        p = _scaled_posteriors(chains, path, spans, sequences, blocks, p, posteriors)


def _blocks(starts: Pointers1d, spans: Spans) -> Pointers1d:
    """Where the sequences start, and the blocks of long ones, which cut no span."""
    long = np.flatnonzero(np.diff(starts) > _BLOCK)
    if not len(long):
        return starts
    wanted = [np.arange(starts[i] + _BLOCK, starts[i + 1], _BLOCK) for i in long]
    cuts = np.concatenate(wanted)
    reach = np.append(0, spans.end)[np.searchsorted(spans.start, cuts)]
    return np.unique(np.concatenate([starts, np.maximum(cuts, reach)]))


@kernel
def best_disjoint(starts: Pointers1d, ends: Pointers1d, gains: Floats1d, chosen: Bools1d) -> None:
    """The spans without overlap that have the largest sum of gains.

        best(e) = max(best(e - 1), max_p (best(starts[p]) + gains[p]))        ends[p] = e

    starts, ends, gains `[P]`: spans in ascending order of their ends. chosen `[P]`: written; spans
    without gain or loss are chosen where they are in nobody's way, empty ones never.
    """
    chosen[:] = False
    length = ends[-1] if len(ends) else 0
    best = np.zeros(length + 1)
    taken = np.full(length + 1, -1)
    p = 0
    for e in range(1, length + 1):
        best[e] = best[e - 1]
        while p < len(ends) and ends[p] <= e:
            value = best[starts[p]] + gains[p]
            # A loss may be lost in rounding.
            if starts[p] < ends[p] and gains[p] >= 0.0 and value >= best[e]:
                best[e] = value
                taken[e] = p
            p += 1
    e = length
    while e > 0:
        if taken[e] >= 0:
            chosen[taken[e]] = True
            e = starts[taken[e]]
        else:
            e -= 1


# Arrays that kernels of any structure write their answers to

WriteBest: TypeAlias = Callable[[Ints2d, Floats2d, Ints1d], None]
"""Writes paths `[k, T]`, their scores `[N, k]`, and how many each sequence has `[N]`."""


def gather_k_best(potentials: Potentials, k: int, write: WriteBest) -> tuple[Ints2d, Floats2d]:
    """What `Structure.k_best` returns."""
    n_sequences = len(potentials.starts) - 1
    paths = np.zeros((k, len(potentials.scores)), dtype=np.int32)
    by_sequence = np.empty((n_sequences, k))
    n_paths = np.empty(n_sequences, dtype=np.int32)
    write(paths, by_sequence, n_paths)
    scores = by_sequence.T.copy()
    scores[np.arange(k)[:, None] >= n_paths] = -np.inf
    return paths, scores


def gather_posteriors(
    starts: Pointers1d, spans: Spans, write: Callable[[Ints1d, Floats1d], None]
) -> Floats1d:
    """Probabilities of spans `[P]`; write: takes the number of each span's sequence `[P]`."""
    probabilities = np.empty(len(spans.start))
    sequences = np.searchsorted(starts, spans.start, side="right") - 1
    write(sequences.astype(np.int32), probabilities)
    return probabilities


def gather_likely(n_units: int, write: Callable[[Spans, Floats1d], int]) -> tuple[Spans, Floats1d]:
    """Spans and their probabilities; write: as far as there is room, and returns their number."""
    n_found, room = n_units, 0
    while n_found > room:  # a second time where there are more than one a token
        room = n_found
        start, end = np.empty((2, room), dtype=np.int64)
        spans = Spans(start, end, np.empty(room, dtype=np.int32))
        probabilities = np.empty(room)
        n_found = write(spans, probabilities)
    written = slice(n_found)
    return Spans(start[written], end[written], spans.label[written]), probabilities[written]
