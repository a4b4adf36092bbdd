"""Kernels of online training by themselves; its steps: `trainers/test_passive_aggressive.py`."""

from __future__ import annotations

import numpy as np
import pytest

from reference import encoded_of, rows_from_dense
from spacy_cascade.inference.linear_chain import ChainFamily
from spacy_cascade.inference.online_prior import OnlinePrior, hold_back, no_prior
from spacy_cascade.inference.passive_aggressive import unit_score
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.inference.structure import Averaged, OnlineStep
from strategies import LABELS


@pytest.mark.parametrize("n", range(10))
def test_the_score_of_a_unit_is_the_sum_of_its_weights(
    n: int, generator: np.random.Generator
) -> None:
    """Of a part of a list of features, some of which are in it twice."""
    weights = generator.normal(size=(6, 3))
    active, scores = generator.integers(0, 6, 12).astype(np.int32), np.full(3, 7.0)
    unit_score(weights, active, 2, 2 + n, scores)
    np.testing.assert_allclose(scores, weights[active[2 : 2 + n]].sum(axis=0), atol=1e-12)


def test_a_feature_is_held_back_in_the_columns_of_which_something_is_known() -> None:
    """By their precision; the norm of the change shrinks by what it takes away."""
    known = OnlinePrior(np.array([[0.0, 0.0], [0.0, 2.0]]), np.ones(2), np.eye(2), np.eye(2))
    changes = np.array([[1.0, 3.0]] * 3)
    features = np.array([1, 0, 2], dtype=np.int32)
    assert hold_back(known, features, 3, changes) == pytest.approx(9.0 - 3.0)
    np.testing.assert_allclose(changes, [[1.0, 1.0], [1.0, 3.0], [1.0, 3.0]])
    assert no_prior(2, 5).features.shape == (0, 2)
    assert hold_back(no_prior(2, 5), features, 3, changes) == 0.0


def test_units_without_features_teach_nothing() -> None:
    """Their costs are a loss, but no weight can mend it."""
    structure = ChainFamily(True).of_spans(TagSet("IOB2", LABELS))
    n, shape = structure.n_labels, (2, structure.n_columns)
    moved = [np.zeros(shape), np.zeros(shape), *np.zeros((2, structure.n_transitions))]
    step = OnlineStep(
        structure.costs(1.0 - np.eye(n)), True, 1.0, np.array([0]), np.ones(1), Averaged(*moved),
        no_prior(structure.n_columns, structure.n_transitions),
    )  # fmt: skip
    features = rows_from_dense(np.zeros((3, 2), dtype=np.int64))
    observed = np.zeros(3, dtype=np.int32)
    learn = structure.learn_online(encoded_of(features), observed, np.array([0, 3]))
    with np.errstate(divide="raise"):
        assert learn(step) == 3.0
    assert not any(each.any() for each in moved)
