"""The chain lattice: which label may follow which, as a list of edges.

There are `Y` labels, `E` edges and `S` score columns. Edge `e` leads from label `source[e]` to
label `target[e]`; edges are sorted by target, then source. A transition that is not
listed does not exist, so no kernel ever meets a masked score. A sequence starts as if
label `start` stood before it. Scores of a position are `[S]`, and edge `e` reads column
`column[e]` of them: its own (`S = E`) where features see label pairs, its target's
(`S = Y`, without those that nothing leads to) where they see labels only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import TrainingError
from ..jit import helper
from ..types import Bools1d, Bools2d, Floats1d, Floats2d, Ints1d, Pointers1d


class Lattice(NamedTuple):
    """Edges of a linear chain (a named tuple, because kernels take it as it is).

    source, target, column: int32 `[E]`.
    first_edge: int32 `[Y + 1]`; edges `first_edge[y]:first_edge[y + 1]` lead to `y`.
    continues: bool `[E]`, whether the edge stays inside one span.
    final: bool `[Y]`, whether a sequence may end with the label.
    start: the label that stands before the first position.
    """

    source: Ints1d
    target: Ints1d
    column: Ints1d
    first_edge: Ints1d
    continues: Bools1d
    final: Bools1d
    start: int

    @property
    def n_labels(self) -> int:
        """`Y`."""
        return len(self.first_edge) - 1

    @property
    def n_edges(self) -> int:
        """`E`."""
        return len(self.source)

    @property
    def n_columns(self) -> int:
        """`S`."""
        return int(self.column.max()) + 1

    @property
    def continued(self) -> Bools1d:
        """Labels that go on with the span before, bool `[Y]`."""
        labels = np.zeros(self.n_labels, dtype=np.bool_)
        labels[self.target[self.continues]] = True
        return labels

    @property
    def label_pairs(self) -> bool:
        """Whether features see label pairs, so that every edge has a score of its own."""
        return self.n_columns == self.n_edges


class Chains(NamedTuple):
    """Sequences under one lattice, as kernels take them (`inference.chain` has the equation).

    scores: float64 `[T, S]`. transitions: float64 `[E]`. cost: float64 `[Y + 2, Y]`. tags: int32
    `[T]`. starts: int64 `[N + 1]`; sequence `i` is `starts[i]:starts[i + 1]`.
    """

    lattice: Lattice
    scores: Floats2d
    transitions: Floats1d
    cost: Floats2d
    tags: Ints1d
    starts: Pointers1d


class LossTerms(NamedTuple):
    """Losses of the sequences `first <= i < last` of chains, as kernels take them.

        losses[i] = log Σ_y exp(score(y) + cost(y)) - log Σ_{y agrees with tags} exp(score(y))

    clamp: float64 `[Y + 2, Y]`, in place of the costs in the second term: 0 for labels that agree
    with an observation, else `-inf`. shares: factors `[N]` of the gradients of both terms, ones for
    the gradient of the loss itself. losses: float64 `[N]`, written.
    """

    clamp: Floats2d
    shares: tuple[Floats1d, Floats1d]
    first: int
    last: int
    losses: Floats1d


def check_sizes(lattice: Lattice, scores: Floats2d, transitions: Floats1d) -> None:
    """Raise `TrainingError` for scores `[T, S]` or transitions `[E]` that are not of a lattice.

    Kernels check no bounds. Scores may have further columns, those of spans.
    """
    if scores.shape[1] < lattice.n_columns or transitions.size != lattice.n_edges:
        raise TrainingError(
            f"{scores.shape[1]} scores of a unit and {transitions.size} transitions do not belong "
            f"to labels with {lattice.n_columns} and {lattice.n_edges}. Did another thread add "
            "labels, train or load the component meanwhile? Do so while no thread annotates."
        )


@helper
def longest_of(starts):  # type: ignore[no-untyped-def]
    """Length of the longest sequence."""
    longest = 0
    for i in range(len(starts) - 1):
        longest = max(longest, starts[i + 1] - starts[i])
    return longest


def related_lattice(
    follows: Bools2d, continues: Bools2d, final: Bools1d, start: int, label_pairs: bool
) -> Lattice:
    """The lattice of the pairs `(previous, current)` in a relation `[Y, Y]`."""
    target, source = (places.astype(np.int32) for places in np.nonzero(follows.T))
    return Lattice(
        source=source,
        target=target,
        column=np.arange(len(target), dtype=np.int32) if label_pairs else target.copy(),
        first_edge=np.searchsorted(target, np.arange(len(final) + 1)).astype(np.int32),
        continues=continues[source, target],
        final=final,
        start=start,
    )


def choice_lattice(n_labels: int) -> Lattice:
    """The lattice of one free choice among labels: a chain of length one."""
    labels = np.arange(n_labels, dtype=np.int32)
    return Lattice(
        source=np.zeros(n_labels, dtype=np.int32),
        target=labels,
        column=labels.copy(),
        first_edge=np.arange(n_labels + 1, dtype=np.int32),
        continues=np.zeros(n_labels, dtype=np.bool_),
        final=np.ones(n_labels, dtype=np.bool_),
        start=0,
    )


def free_lattice(n_labels: int, label_pairs: bool) -> Lattice:
    """The lattice of labels `1 … n_labels` that may all follow each other.

    Label 0 stands before the first position only; without label pairs it has no score column.
    """
    is_tag = np.arange(n_labels + 1) > 0
    follows = np.broadcast_to(is_tag, (n_labels + 1, n_labels + 1))
    lattice = related_lattice(follows, np.zeros_like(follows), is_tag, 0, label_pairs)
    return lattice if label_pairs else lattice._replace(column=lattice.column - np.int32(1))
