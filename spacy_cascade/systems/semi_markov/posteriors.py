"""Posteriors of spans of a semi-Markov chain: a by-product of the sums over segmentations."""

from __future__ import annotations

from ...inference.lattice import Chains
from ...inference.schemes import Spans
from ...jit import kernel
from ...types import Floats1d, Ints1d
from .segments import Grid, Segments, backward, fill_within, forward, room_for, span_probability


@kernel
def probable_segments(
    grid: Grid,
    chains: Chains,
    segments: Segments,
    least: float,
    spans: Spans,
    posteriors: Floats1d,
) -> int:
    """Every span with a probability of at least `least`; returns how many there are.

    spans, posteriors `[P]`: written as far as they go, by end, and those of one end backwards.
    """
    room = room_for(chains, segments)
    most, n = segments.of_lengths.shape
    n_found = 0
    for i in range(len(chains.starts) - 1):
        begin, end = chains.starts[i], chains.starts[i + 1]
        fill_within(grid, chains, segments, begin, end, room.within)
        forward(grid, chains, begin, end, room)
        backward(grid, chains.lattice, end - begin, room)
        for row in range(end - begin):
            for d in range(1, min(most, row + 1) + 1):
                for label in range(n):
                    p = span_probability(grid, room, row, label, d)
                    if p < least:
                        continue
                    if n_found < len(posteriors):
                        spans.start[n_found] = begin + row + 1 - d
                        spans.end[n_found] = begin + row + 1
                        spans.label[n_found] = label
                        posteriors[n_found] = min(1.0, p)
                    n_found += 1
    return n_found


@kernel
def segment_posteriors(
    grid: Grid,
    chains: Chains,
    segments: Segments,
    spans: Spans,
    sequences: Ints1d,
    posteriors: Floats1d,
) -> None:
    """Probability of each span `[P]`, in the order of their sequences `[P]`; written."""
    room = room_for(chains, segments)
    most = segments.of_lengths.shape[0]
    current = -1
    for p in range(len(posteriors)):
        begin, end = chains.starts[sequences[p]], chains.starts[sequences[p] + 1]
        if sequences[p] != current:
            current = sequences[p]
            fill_within(grid, chains, segments, begin, end, room.within)
            forward(grid, chains, begin, end, room)
            backward(grid, chains.lattice, end - begin, room)
        d = spans.end[p] - spans.start[p]
        posteriors[p] = 0.0
        if d <= most:
            row = spans.end[p] - 1 - begin
            value = span_probability(grid, room, row, spans.label[p], d)
            posteriors[p] = min(1.0, value)
