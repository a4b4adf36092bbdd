"""The block and the other transitions are together all transitions of a lattice."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_cascade.inference.lattice import Lattice, free_lattice
from spacy_cascade.inference.schemes import SCHEMES, TagSet
from spacy_cascade.systems.many_labels.blocks import added, blocks_of, multiplied

LATTICES = [
    *(TagSet(scheme, labels).lattice(False) for scheme in SCHEMES for labels in ("A", "ABC")),
    *(free_lattice(n, False) for n in (1, 4)),
]


@pytest.mark.parametrize("lattice", LATTICES)
def test_every_transition_has_one_place(lattice: Lattice) -> None:
    blocks = blocks_of(lattice)
    found = {}
    for (row, column), e in np.ndenumerate(blocks.block):
        if e >= 0:
            found[int(e)] = blocks.first_row + row, column
    for e, *places in zip(blocks.edge, blocks.source, blocks.target, strict=True):
        assert lattice.continues[e]
        assert found.setdefault(int(e), tuple(places)) == tuple(places)
    for place, e in enumerate(blocks.initial.tolist()):
        if e >= 0:
            assert (lattice.source[e], lattice.target[e]) == (lattice.start, blocks.label[place])
    for e, (source, target) in found.items():
        assert lattice.source[e] == blocks.label[source]
        assert lattice.target[e] == blocks.label[target]
    from_start = set(blocks.initial[blocks.initial >= 0].tolist())
    assert found.keys() | from_start == set(range(lattice.n_edges))
    assert sorted(blocks.column.tolist()) == list(range(lattice.n_columns))
    assert (blocks.final == lattice.final[blocks.label]).all()


@pytest.mark.parametrize(("scheme", "shape"), [("BILOU", (7, 7)), ("IOB2", (7, 4)), ("IO", (4, 4))])
def test_the_block_is_small(scheme: str, shape: tuple[int, int]) -> None:
    assert blocks_of(TagSet(scheme, ("A", "B", "C")).lattice(False)).block.shape == shape


def test_others_by_their_targets() -> None:
    blocks = blocks_of(TagSet("BILOU", ("A", "B")).lattice(False))
    for place in range(len(blocks.label)):
        own = slice(blocks.first_other[place], blocks.first_other[place + 1])
        assert (blocks.target[own] == place).all()
    assert blocks.first_other[-1] == len(blocks.target) == 8


def test_weights(generator: np.random.Generator) -> None:
    lattice = TagSet("IO", ("A", "B")).lattice(False)
    blocks, transitions = blocks_of(lattice), generator.normal(size=lattice.n_edges)
    sums, (products, shift) = added(blocks, transitions), multiplied(blocks, transitions)
    assert shift == transitions.max()
    np.testing.assert_allclose(products.matrix, np.exp(sums.matrix - shift))
    np.testing.assert_allclose(products.others, np.exp(transitions[blocks.edge] - shift))
    np.testing.assert_array_equal(products.initial, sums.initial)
    # Inside of a span, which the matrix leaves out.
    assert (sums.matrix == -np.inf).sum() == 2
    np.testing.assert_array_equal(sums.backward[:3, :3], sums.matrix.T)
