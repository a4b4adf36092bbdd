"""The lattice without label pairs as one matrix and a few single transitions.

A transition that goes on with a span keeps its label, so there are a few of them for each span
label. All others lead from a label at which a span may end to one at which a span may begin, and
any such pair has one: they are a matrix, the *block*. With 200 types and BILOU it has 401 rows and
columns, of 801 labels.

Labels get *places*, so that a step of a chain works on neighbouring numbers. Labels that the block
leads to come first, at places `0 … C - 1`. Those that it leads from stand together, too, `R` of
them from `first_row` on. Labels inside of spans are the last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...inference.lattice import Lattice
from ...types import Bools1d, Floats1d, Floats2d, Ints1d, Ints2d
from .products import in_tiles


class Blocks(NamedTuple):
    """Which transitions lead from place to place (a named tuple, because kernels take it).

    column, label: int32 `[n]`, score column and label of each place. initial: int32 `[n]`, the
    transition from the start, -1 where there is none. final: bool `[n]`, whether a sequence may end
    there. first_row: the place of the first block row. block: int32 `[R, C]`, the transition of
    each row and column, -1 where there is none. edge, source, target: int32 `[F]`, the others, in
    the order of their targets, and from where to where they lead. first_other: int32 `[n + 1]`; the
    others `first_other[c]:first_other[c + 1]` lead to place `c`.
    """

    column: Ints1d
    label: Ints1d
    initial: Ints1d
    final: Bools1d
    first_row: int
    block: Ints2d
    edge: Ints1d
    source: Ints1d
    target: Ints1d
    first_other: Ints1d


def blocks_of(lattice: Lattice) -> Blocks:
    """The block and the other transitions of a lattice without label pairs."""
    column_of = np.full(lattice.n_labels, -1, dtype=np.int32)
    column_of[lattice.target] = lattice.column
    is_inner = column_of[lattice.source] >= 0
    leaves = np.flatnonzero(is_inner & ~lattice.continues)
    is_row, is_column = np.zeros((2, lattice.n_labels), dtype=np.bool_)
    is_row[lattice.source[leaves]] = True
    is_column[lattice.target[leaves]] = True
    # Columns alone, both, rows alone, neither.
    group = np.where(is_column, is_row.astype(np.int32), np.where(is_row, 2, 3))
    known = np.flatnonzero(column_of >= 0).astype(np.int32)
    labels: Ints1d = known[np.argsort(group[known], kind="stable")]
    place = np.full(lattice.n_labels, -1, dtype=np.int32)
    place[labels] = np.arange(len(labels))
    first_row = int((group[labels] == 0).sum())
    block = np.full((is_row.sum(), is_column.sum()), -1, dtype=np.int32)
    block[place[lattice.source[leaves]] - first_row, place[lattice.target[leaves]]] = leaves
    initial = np.full(len(labels), -1, dtype=np.int32)
    begins = np.flatnonzero(lattice.source == lattice.start)
    initial[place[lattice.target[begins]]] = begins
    inside = np.flatnonzero(is_inner & lattice.continues).astype(np.int32)
    others: Ints1d = inside[np.argsort(place[lattice.target[inside]], kind="stable")]
    targets = place[lattice.target[others]]
    return Blocks(
        column=column_of[labels],
        label=labels,
        initial=initial,
        final=lattice.final[labels],
        first_row=first_row,
        block=block,
        edge=others,
        source=place[lattice.source[others]],
        target=targets,
        first_other=np.searchsorted(targets, np.arange(len(labels) + 1)).astype(np.int32),
    )


class BlockWeights(NamedTuple):
    """What transitions add or multiply, as kernels take them.

    initial: `[n]`, of the first label, -inf where no sequence begins; added. matrix: `[R, C]`, of
    the block. forward, backward: its tiles, and those of its transpose. others: `[F]`.
    """

    initial: Floats1d
    matrix: Floats2d
    forward: Floats2d
    backward: Floats2d
    others: Floats1d


def added(blocks: Blocks, transitions: Floats1d) -> BlockWeights:
    """Transitions as they are, -inf where there is none."""
    with_none = np.append(transitions, -np.inf)
    return _weights(blocks, with_none, with_none)


def multiplied(blocks: Blocks, transitions: Floats1d) -> tuple[BlockWeights, float]:
    """`exp(m - max m)`, 0 where there is none, and `max m`; but the initial ones as they are."""
    with_none = np.append(transitions, -np.inf)
    shift = float(transitions.max())
    return _weights(blocks, with_none, np.exp(with_none - shift)), shift


def _weights(blocks: Blocks, initial: Floats1d, weights: Floats1d) -> BlockWeights:
    matrix = weights[blocks.block]
    return BlockWeights(
        initial=initial[blocks.initial],
        matrix=matrix,
        forward=in_tiles(matrix),
        backward=in_tiles(matrix.T),
        others=weights[blocks.edge],
    )
