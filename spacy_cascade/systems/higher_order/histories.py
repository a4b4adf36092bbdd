"""Histories: the last tags before and at a token, and the lattice that has them as its labels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import comb
from typing import TypeAlias

import numpy as np

from ...inference.lattice import Lattice
from ...inference.schemes import TagSet

Run: TypeAlias = tuple[int, ...]
"""Tags one after the other."""


def histories(tags: Lattice, order: int) -> list[Run]:
    """The runs of `order` tags that sequences can have, in the order of their last tags.

    The first one has the label that stands before a sequence, as often as needed.
    """
    found = {(tags.start,) * order}
    waiting = list(found)
    followers = _followers(tags)
    while waiting:
        history = waiting.pop()
        after = {_next(history, tag) for tag in followers[history[-1]]}
        waiting += after - found
        found |= after
    return sorted(found, key=lambda history: history[::-1])


def _next(history: Run, tag: int) -> Run:
    """The history after one more tag."""
    return *history[1:], tag


def _followers(tags: Lattice) -> dict[int, dict[int, bool]]:
    """For each tag those that may follow it, and whether they stay inside its span."""
    found: dict[int, dict[int, bool]] = {tag: {} for tag in range(tags.n_labels)}
    edges = zip(tags.source.tolist(), tags.target.tolist(), tags.continues.tolist(), strict=True)
    for source, target, continues in edges:
        found[source][target] = continues
    return found


def history_lattice(tags: Lattice, known: Sequence[Run], sees_edges: bool) -> Lattice:
    """The lattice whose labels are histories; sees_edges: whether every edge has its column."""
    number = {history: h for h, history in enumerate(known)}
    followers = _followers(tags)
    edges = sorted(
        (number[_next(history, tag)], h, continues)
        for h, history in enumerate(known)
        for tag, continues in followers[history[-1]].items()
    )
    target, source, continues = (np.array(each) for each in zip(*edges, strict=True))
    column = np.arange(len(edges)) if sees_edges else target - target.min()
    return Lattice(
        source=source.astype(np.int32),
        target=target.astype(np.int32),
        column=column.astype(np.int32),
        first_edge=np.searchsorted(target, np.arange(len(known) + 1)).astype(np.int32),
        continues=continues,
        final=tags.final[[history[-1] for history in known]],
        start=0,
    )


def n_runs(scheme: str, n_labels: int, size: int) -> int:
    """How many runs of `size` tags are legal, without making them.

    Which ones are depends on prefixes and on which labels are the same, so their number is a
    polynomial of degree `size` in the number of labels, and differences at 0 tell it.
    """
    differences = [
        _count_runs(TagSet(scheme, tuple(map(str, range(n)))).lattice(False), size)
        for n in range(size + 1)
    ]
    total = 0
    for degree in range(size + 1):
        total += comb(n_labels, degree) * differences[0]
        differences = [after - before for before, after in pairwise(differences)]
    return total


def _count_runs(tags: Lattice, size: int) -> int:
    """Legal runs of tags, counted by their last tags."""
    by_last = np.ones(tags.n_labels, dtype=np.int64)
    for _ in range(size - 1):
        longer = np.zeros_like(by_last)
        np.add.at(longer, tags.target, by_last[tags.source])
        by_last = longer
    return int(by_last.sum())
