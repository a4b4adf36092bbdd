"""Scores of observed paths, which the constraint of ICRF is about."""

from __future__ import annotations

from ..jit import helper, kernel
from ..types import Floats1d, Floats2d, Ints1d, Pointers1d
from .lattice import Lattice


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
