"""The block of a lattice, batches of sequences in lock step, and blocked products."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_cascade.inference.chain import log_partitions
from spacy_cascade.inference.lattice import Lattice, free_lattice
from spacy_cascade.inference.schemes import SCHEMES, TagSet
from spacy_cascade.systems.many_labels import lockstep
from spacy_cascade.systems.many_labels.blocks import added, blocks_of, multiplied
from spacy_cascade.systems.many_labels.lockstep import make_batches, summed
from spacy_cascade.systems.many_labels.products import Shape, add_products, best_sums, in_tiles
from strategies import random_chain, together

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
    numbers = [each for each in blocks if isinstance(each, np.ndarray) and each.dtype != np.bool_]
    assert {each.dtype for each in numbers} == {np.dtype(np.int32)}


@pytest.mark.parametrize(("scheme", "shape"), [("BILOU", (7, 7)), ("IOB2", (7, 4)), ("IO", (4, 4))])
def test_the_block_is_small_and_others_stand_by_their_targets(
    scheme: str, shape: tuple[int, int]
) -> None:
    blocks = blocks_of(TagSet(scheme, ("A", "B", "C")).lattice(False))
    assert blocks.block.shape == shape
    of_places = np.diff(blocks.first_other)
    np.testing.assert_array_equal(blocks.target, np.repeat(np.arange(len(of_places)), of_places))


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


def starts_of(lengths: list[int]) -> np.ndarray:
    return np.cumsum([0, *lengths], dtype=np.int64)


def test_lanes_and_rows() -> None:
    starts, is_partial = starts_of([2, 0, 3, 1]), np.array([True, False, False, True])
    (batch,) = make_batches(starts, np.arange(4), is_partial, 10)
    assert batch.sequence.tolist() == [2, 0, 0, 3, 3]
    assert batch.is_clamped.tolist() == [False, False, True, False, True]
    assert batch.first.tolist() == [0, 5, 8, 9]
    assert batch.begin.tolist() == [2, 0, 0, 5, 5]
    assert batch.lane.tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 0]


def test_a_batch_is_of_a_size_or_one_sequence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lockstep, "_ENTRIES", 60)
    monkeypatch.setattr(lockstep, "_ROWS", 1)
    starts, is_partial = starts_of([2, 9, 2, 1, 3, 0, 1]), np.zeros(7, dtype=np.bool_)
    is_partial[4] = True
    asked = np.arange(7), is_partial, 10
    found = make_batches(starts, *asked)
    assert [batch.sequence.tolist() for batch in found] == [[1], [4, 4], [0, 2, 3, 6]]
    assert make_batches(starts, np.array([5]), is_partial, 10) == []
    monkeypatch.setattr(lockstep, "_ROWS", 14)
    assert [len(batch.sequence) for batch in make_batches(starts, *asked)] == [1, 6]


@pytest.mark.parametrize("size", [1.0, 150.0])
def test_sums_in_lock_step(generator: np.random.Generator, size: float) -> None:
    """Only where numbers would underflow a lane is lost, and from there nothing is left of it."""
    lattice = TagSet("BILOU", ("A", "B")).lattice(False)
    several = [random_chain(generator, lattice, n, size=size) for n in (3, 1, 9, 0, 6, 9)]
    (chains, _), blocks = together(several), blocks_of(lattice)
    weights, expected = multiplied(blocks, chains.transitions), np.empty(6)
    log_partitions(chains, expected)
    ((batch, rows, values),) = summed(blocks, chains, *weights, np.arange(6))
    is_lost = np.isneginf(values)
    assert is_lost.any() == (size > 1.0)
    np.testing.assert_allclose(values[~is_lost], expected[batch.sequence][~is_lost])
    at_end = [bool(rows.a[batch.lane == lane][-1].any()) for lane in range(len(values))]
    assert at_end == (~is_lost).tolist()


SIZES = [(1, 1, 1), (3, 5, 31), (4, 8, 32), (7, 3, 33), (9, 13, 70)]


@pytest.mark.parametrize("sizes", SIZES)
def test_products_inside_of_larger_matrices(
    generator: np.random.Generator, sizes: tuple[int, int, int]
) -> None:
    rows, inner, columns = sizes
    left, out = generator.normal(size=(12, 20)), generator.normal(size=(14, 80))
    right, before = generator.normal(size=(inner, columns)), out.copy()
    own, its = left[2 : 2 + rows, 3 : 3 + inner], (slice(4, 4 + rows), slice(5, 5 + columns))
    shape = Shape(2, 3, 4, 5, rows, inner, columns)
    add_products(left, in_tiles(right), out, shape)
    np.testing.assert_allclose(out[its], before[its] + own @ right, atol=1e-12)
    best_sums(left, in_tiles(right), out, shape)
    np.testing.assert_array_equal(out[its], (own[:, :, None] + right).max(axis=1))
    out[its] = before[its]
    np.testing.assert_array_equal(out, before)


def test_a_row_has_the_same_bits_in_any_company(generator: np.random.Generator) -> None:
    left, tiles = generator.normal(size=(9, 21)), in_tiles(generator.normal(size=(21, 40)))
    together, alone = np.zeros((2, 9, 40))
    add_products(left, tiles, together, Shape(0, 0, 0, 0, 9, 21, 40))
    for i in range(9):
        add_products(left, tiles, alone, Shape(i, 0, i, 0, 1, 21, 40))
    np.testing.assert_array_equal(together, alone)
