"""Products of a transposed matrix as sums over parts of its rows, which workers can share.

Parts are added up in a tree: each node is the sum of its halves. So it does not matter who computes
which node, and a worker that has many parts sends few sums.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import TypeAlias

import numpy as np

from ...numeric.csr import add_to_columns
from ...parallel import Workers, split
from ...types import Floats1d, Floats2d, Ints1d, Pointers1d

Node: TypeAlias = tuple[int, int]
"""The parts from the first number up to the second one."""
AddNode: TypeAlias = Callable[[Node, Floats2d], None]
"""Adds the sum of a node to an array `[n, W]`."""
_MOST_AT_ONCE = 4
"""Nodes that are made side by side: more need more memory."""


def add_part(
    indptr: Pointers1d, indices: Ints1d, part: int, n_parts: int, values: Floats2d, out: Floats2d
) -> None:
    """`out += self.T @ values` for one of the parts that the rows of a matrix are divided into."""
    pieces = split(indptr)
    first, last = (len(pieces) * i // n_parts for i in (part, part + 1))
    for begin, end in pieces[first:last]:
        add_to_columns(indptr, indices, values, out, begin, end)


def part_bounds(indptr: Pointers1d, n_parts: int) -> Pointers1d:
    """First row of each part, and the end, int64 `[P + 1]`."""
    pieces = split(indptr)
    bounds = [*(begin for begin, _ in pieces), len(indptr) - 1]
    places = [len(pieces) * i // n_parts for i in range(n_parts + 1)]
    return np.array([bounds[place] for place in places], dtype=np.int64)


def nodes_of(parts: Node, tree: Node) -> list[Node]:
    """The fewest nodes of a tree that these parts of it consist of, in order."""
    if parts[0] <= tree[0] and tree[1] <= parts[1]:
        return [tree]
    if tree[1] <= parts[0] or parts[1] <= tree[0]:
        return []
    return [node for half in _halves(tree) for node in nodes_of(parts, half)]


def _halves(node: Node) -> tuple[Node, Node]:
    middle = sum(node) // 2
    return (node[0], middle), (middle, node[1])


def _leaves(node: Node, given: Container[Node]) -> list[tuple[Node, int]]:
    """The given nodes below one, or parts where none is given, in order.

    With each: the number of sums that are complete once it is there.
    """
    if node in given or node[1] - node[0] == 1:
        return [(node, 0)]
    first, second = _halves(node)
    *others, (last, n_complete) = _leaves(second, given)
    return [*_leaves(first, given), *others, (last, n_complete + 1)]


class Memory:
    """Where parts are summed up; it is kept, because new memory is slow."""

    def __init__(self) -> None:
        self._free: list[Floats1d] = []

    def add_up(
        self,
        tree: Node,
        add: AddNode,
        out: Floats2d,
        workers: Workers,
        given: Container[Node] = (),
    ) -> None:
        """Write the sum of a node to `out`, the same bits for any number of threads.

        add: called for `given` nodes and for parts that are in none of these.
        """
        leaves, sums = _leaves(tree, given), list[Floats2d]()
        at_once = min(workers.n_threads, _MOST_AT_ONCE)
        for first in range(0, len(leaves), at_once):
            batch = leaves[first : first + at_once]
            # The first one gets all the others, one after the other.
            made = [self._take(out.shape) if first + i else out for i in range(len(batch))]
            _make(add, [leaf for leaf, _ in batch], made, workers)
            for (_, n_complete), own in zip(batch, made, strict=True):
                sums.append(own)
                for _ in range(n_complete):
                    self._add_last(sums, workers)

    def _add_last(self, sums: list[Floats2d], workers: Workers) -> None:
        """Add the last one to the one before."""
        addend, total = sums.pop(), sums[-1]

        def piece(begin: int, end: int) -> None:
            total[begin:end] += addend[begin:end]

        n_rows, width = total.shape
        workers.map(piece, split(range(0, (n_rows + 1) * width, width)))
        assert addend.base is not None
        self._free.append(addend.base)

    def _take(self, shape: tuple[int, ...]) -> Floats2d:
        size = shape[0] * shape[1]
        floats = self._free.pop() if self._free else np.empty(size)
        if len(floats) < size:
            floats = np.empty(size)
        sums: Floats2d = floats[:size].reshape(shape)
        return sums


def _make(add: AddNode, nodes: list[Node], sums: list[Floats2d], workers: Workers) -> None:
    """Side by side."""

    def make(begin: int, end: int) -> None:
        for i in range(begin, end):
            sums[i].fill(0.0)
            add(nodes[i], sums[i])

    workers.map(make, [(i, i + 1) for i in range(len(nodes))])
