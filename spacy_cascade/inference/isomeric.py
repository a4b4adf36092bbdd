"""What couples the chains of ICRF: scores of observed paths, and gradients of the penalty."""

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
    lattice: Lattice, scores: Floats2d, tags: Ints1d, starts: Pointers1d, values: Floats1d
) -> None:
    """Write `Σ_t scores[t, column(e_t)]` of the observed path of each sequence to values `[N]`.

    scores `[T, S]`, tags `[T]`, all observed, starts `[N + 1]`.
    """
    for i in range(len(starts) - 1):
        previous = lattice.start
        values[i] = 0.0
        for t in range(starts[i], starts[i + 1]):
            values[i] += scores[t, lattice.column[_edge(lattice, previous, tags[t])]]
            previous = tags[t]


@kernel
def couple(
    lattice: Lattice,
    gradient: Floats2d,
    tags: Ints1d,
    starts: Pointers1d,
    factor: Floats1d,
    addition: Floats1d,
) -> None:
    """`gradient[t, s] = factor[i]·gradient[t, s] + addition[i]·[s is the observed edge's column]`.

    gradient `[T, S]`: OVERWRITTEN. tags, starts: as above. factor, addition `[N]`.
    """
    for i in range(len(starts) - 1):
        previous = lattice.start
        for t in range(starts[i], starts[i + 1]):
            for s in range(gradient.shape[1]):
                gradient[t, s] *= factor[i]
            gradient[t, lattice.column[_edge(lattice, previous, tags[t])]] += addition[i]
            previous = tags[t]
