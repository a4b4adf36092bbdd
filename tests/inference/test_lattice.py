"""The chain lattice: its edges, columns and mixing."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import chain_lattice, smallest_squares
from spacy_cascade.inference.lattice import choice_lattice, free_lattice
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import OUTSIDE, SCHEMES, TagSet
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


def test_no_label_pairs_no_mixing():
    lattice = TagSet("BILOU", LABELS).lattice(False)
    np.testing.assert_array_equal(LinearChain(lattice).columns.mixing, np.eye(lattice.n_labels))


@pytest.mark.parametrize("label_pairs", [False, True])
@pytest.mark.parametrize("n_labels", [1, 2, 5])
def test_a_free_lattice_has_every_pair_but_those_to_the_start(n_labels, label_pairs):
    lattice = free_lattice(n_labels, label_pairs)
    edges = set(zip(lattice.source.tolist(), lattice.target.tolist(), strict=True))
    assert edges == set(product(range(n_labels + 1), range(1, n_labels + 1)))
    assert lattice.n_labels == n_labels + 1
    assert lattice.n_columns == (lattice.n_edges if label_pairs else n_labels)
    assert not lattice.continues.any()
    assert lattice.final.tolist() == [False] + [True] * n_labels
    if not label_pairs:
        assert (lattice.column == lattice.target - 1).all()
