"""Costs of wrong labels, and the settings that make no sense."""

from __future__ import annotations

import math

import numpy as np
import pytest

from spacy_cascade.errors import ConfigError
from spacy_cascade.inference.lattice import choice_lattice
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.losses.margin import Hinge, Likelihood, SoftmaxMargin


def test_likelihood_charges_nothing():
    assert not Likelihood().label_costs(3).any()


def test_softmax_margin_charges_wrong_labels():
    np.testing.assert_array_equal(
        SoftmaxMargin(kappa=2.0).label_costs(3), [[0, 2, 2], [2, 0, 2], [2, 2, 0]]
    )


def test_misses_can_cost_more_than_false_alarms():
    np.testing.assert_array_equal(
        SoftmaxMargin(kappa=2.0, false_negative_weight=3.0).label_costs(3),
        [[0, 2, 2], [6, 0, 2], [6, 2, 0]],
    )


def test_without_a_margin_there_is_no_cost():
    np.testing.assert_array_equal(
        SoftmaxMargin(kappa=0.0).label_costs(4), Likelihood().label_costs(4)
    )


@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf])
def test_kappa_must_not_be_negative(value):
    with pytest.raises(ConfigError, match="kappa"):
        SoftmaxMargin(kappa=value)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_the_cost_of_a_miss_must_be_positive(value):
    with pytest.raises(ConfigError, match="false_negative_weight"):
        SoftmaxMargin(false_negative_weight=value)


def test_costs_as_kernels_want_them(generator):
    costs = generator.random((3, 3))
    margin, clamp = LinearChain(choice_lattice(3)).costs(costs)
    np.testing.assert_array_equal(margin, [np.zeros(3), *costs, np.zeros(3)])
    assert not clamp[0].any()
    for observed in range(3):
        assert clamp[observed + 1, observed] == 0.0
        assert np.isneginf(np.delete(clamp[observed + 1], observed)).all()


def test_no_label_that_continues_a_span_is_left_where_one_has_ended():
    tag_set = TagSet("IOB2", ("x", "y"))
    lattice = tag_set.lattice(label_pairs=False)
    margin, clamp = LinearChain(lattice).costs(np.ones((5, 5)))
    assert not margin[-1].any()
    assert [tag for tag, cost in zip(tag_set.tags, clamp[-1], strict=True) if cost] == [
        "I-x",
        "I-y",
    ]
    assert np.isneginf(clamp[-1, lattice.continued]).all()


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("option", ["kappa", "false_negative_weight"])
def test_costs_of_a_hinge_must_be_positive(option, value):
    with pytest.raises(ConfigError, match=rf"{option} .*\[loss\]"):
        Hinge(**{option: value})
