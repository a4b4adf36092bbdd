"""The chain lattice: its edges, columns and mixing."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import chain_lattice, smallest_squares
from spacy_cascade.errors import TrainingError
from spacy_cascade.inference import chain_kernels
from spacy_cascade.inference.chain_kernels import MANY_LABELS, ChainKernels, kernels_for
from spacy_cascade.inference.lattice import check_sizes, choice_lattice, free_lattice
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import OUTSIDE, SCHEMES, TagSet
from spacy_cascade.inference.structure import Part, Potentials
from strategies import LABELS, floats2d, tag_sets


@settings(max_examples=30)
@given(tag_sets(), st.booleans())
def test_a_lattice_is_that_of_a_search_pair_by_pair(tag_set, label_pairs):
    scheme = SCHEMES[tag_set.scheme]
    twin = chain_lattice(
        tag_set.tags, scheme.follows, scheme.continues, scheme.ends, OUTSIDE, label_pairs
    )
    for name, found in tag_set.lattice(label_pairs)._asdict().items():
        expected = getattr(twin, name)
        np.testing.assert_array_equal(found, expected, err_msg=name)
        assert getattr(found, "dtype", int) == getattr(expected, "dtype", int)


def test_choice_lattice():
    lattice = choice_lattice(3)
    assert lattice.source.tolist() == [0, 0, 0]
    assert lattice.target.tolist() == [0, 1, 2]
    assert lattice.n_columns == lattice.n_edges == lattice.n_labels == 3
    assert not lattice.continues.any()
    assert lattice.final.all()
    numbers = lattice.source, lattice.target, lattice.column, lattice.first_edge
    assert {each.dtype for each in numbers} == {np.dtype(np.int32)}
    assert lattice.start == 0
    np.testing.assert_array_equal(LinearChain(lattice).columns.mixing, np.eye(3))


@settings(max_examples=20)
@given(tag_sets().flatmap(lambda s: st.tuples(st.just(s), floats2d(2, s.lattice(True).n_edges))))
def test_mixing_keeps_the_smallest_label_and_pair_weights(example):
    """`v = M z` has `‖z‖²` equal to the least `‖u‖² + ‖p‖²` of any `u + p = v`."""
    tag_set, free = example
    lattice = tag_set.lattice(True)
    mixing = LinearChain(lattice).columns.mixing
    np.testing.assert_allclose(mixing, mixing.T)
    squares = smallest_squares(lattice, free @ mixing)
    assert squares == pytest.approx((free**2).sum(), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("label_pairs", [False, True])
def test_scores_of_another_lattice_are_refused(label_pairs: bool) -> None:
    """There may be more columns, of spans."""
    lattice = TagSet("IOB2", LABELS).lattice(label_pairs)
    n, edges = lattice.n_columns, np.zeros(lattice.n_edges)
    for n_columns in (n, n + 1):
        check_sizes(lattice, np.zeros((2, n_columns)), edges)
        for transitions in (edges[1:], np.append(edges, 0.0)):
            with pytest.raises(TrainingError, match="Did another thread add labels"):
                check_sizes(lattice, np.zeros((2, n_columns)), transitions)
    structure, starts = LinearChain(lattice), np.array([0, 2])
    wrong = Potentials(np.zeros((2, n)), edges[1:], starts)
    for ask in (structure.best, structure.log_partitions):
        with pytest.raises(TrainingError, match="Did another thread"):
            ask(wrong)
    with pytest.raises(TrainingError, match="Did another thread"):
        structure.contrast(wrong, np.zeros(1, dtype=np.int32), 0)
    said = f"{n - 1} scores of a unit and {len(edges)} trans.* with {n} and {len(edges)}"
    with pytest.raises(TrainingError, match=said):
        check_sizes(lattice, np.zeros((2, n - 1)), edges)


@pytest.mark.parametrize("label_pairs", [False, True])
def test_sums_are_made_by_the_kernels_that_are_fastest(
    label_pairs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Matrices where features see labels only, else lists of edges."""
    dense, others = ("dense_losses", "dense_log_partitions"), ("chain_losses", "log_partitions")
    for name in dense if label_pairs else others:
        monkeypatch.setattr(chain_kernels, name, None)
    structure = LinearChain(TagSet("IOB2", LABELS).lattice(label_pairs))
    n, observed = structure.n_labels, np.zeros(2, dtype=np.int32)
    costs = structure.costs(1.0 - np.eye(n))
    scores, transitions = np.zeros((2, structure.n_columns)), np.zeros(structure.n_transitions)
    potentials = Potentials(scores, transitions, np.array([0, 2]))
    (everything,) = structure.log_partitions(potentials, costs, observed)
    losses = np.zeros(1)
    structure.losses(Part(potentials, observed, 0, 1, losses), costs)
    assert losses[0] == pytest.approx(everything)


@pytest.mark.parametrize("label_pairs", [False, True])
def test_many_labels_have_kernels_of_their_own(label_pairs: bool) -> None:
    """Where features see labels only."""
    few, many = (kernels_for(free_lattice(MANY_LABELS - n, label_pairs)) for n in (1, 0))
    assert type(few) is ChainKernels
    assert (type(many) is ChainKernels) == label_pairs


def test_no_label_pairs_no_mixing():
    lattice = TagSet("BILOU", LABELS).lattice(False)
    np.testing.assert_array_equal(LinearChain(lattice).columns.mixing, np.eye(lattice.n_labels))


@pytest.mark.parametrize("label_pairs", [False, True])
@pytest.mark.parametrize("n_labels", [1, 2, 5])
def test_a_free_lattice_has_every_pair_but_those_to_the_start(n_labels, label_pairs):
    lattice = free_lattice(n_labels, label_pairs)
    edges = set(zip(lattice.source.tolist(), lattice.target.tolist(), strict=True))
    assert edges == set(product(range(n_labels + 1), range(1, n_labels + 1)))
    assert (lattice.n_labels, lattice.start) == (n_labels + 1, 0)
    assert lattice.n_columns == (lattice.n_edges if label_pairs else n_labels)
    assert not lattice.continues.any()
    assert lattice.final.tolist() == [False] + [True] * n_labels
    if not label_pairs:
        assert (lattice.column == lattice.target - 1).all()
