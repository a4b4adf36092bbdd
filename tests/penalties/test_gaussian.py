"""Gaussian penalties: value, gradient, centre, and settings that make no sense."""

from __future__ import annotations

import math

import numpy as np
import pytest

from objectives import slopes_at
from spacy_cascade.errors import ConfigError
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.inference.structure import Weights
from spacy_cascade.penalties.base import Penalty
from spacy_cascade.penalties.gaussian import Gaussian


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, 1e-300, 1e300])
def test_sigma_and_its_square_must_be_positive(value: float) -> None:
    with pytest.raises(ConfigError, match=r"sigma .*1e-100 to 1e\+100\).*\[penalty\]"):
        Gaussian(value)


def test_the_gradient_is_the_slope_of_the_value(generator: np.random.Generator) -> None:
    weights = Weights(generator.normal(size=(4, 3)), generator.normal(size=5))
    penalty = Gaussian(0.5).at_weights(
        weights, generator.random((4, 3)), np.array([0, 1, 2, 0, 1], dtype=np.int32)
    )
    deviation = generator.normal(size=(2, 3))
    _, gradient = penalty.of_features(slice(1, 3), deviation)
    slopes = slopes_at(
        lambda: float(penalty.of_features(slice(1, 3), deviation)[0].sum()), deviation, 1e-4
    )
    np.testing.assert_allclose(slopes, gradient, rtol=1e-6)
    of_transitions = generator.normal(size=5)
    value, slope = penalty.of_transitions(of_transitions)
    assert value == pytest.approx(0.5 * (slope * of_transitions).sum())


def test_from_scratch_all_weights_are_equally_free() -> None:
    penalty = Gaussian(0.5).at_zero((2, 3), 4)
    values, gradient = penalty.of_features(slice(0, 2), np.ones((2, 3)))
    np.testing.assert_array_equal(values, [6.0, 6.0])
    np.testing.assert_array_equal(gradient, np.full((2, 3), 4.0))
    assert not np.any(penalty.inherited())
    assert not penalty.centre.features.any()


@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_less_of_the_old_corpus_is_an_optimum_with_less_of_its_loss(
    share: float, generator: np.random.Generator
) -> None:
    """For a loss that is a parabola this is exact, in the parameters before mixing."""
    structure = LinearChain(TagSet("IOB2", ("A",)).lattice(label_pairs=True))
    mixing, sigma = structure.columns.mixing, 0.5
    shape = (4, len(mixing))
    known, best = generator.gamma(1.0, 3.0, size=shape), generator.normal(size=shape)

    def optimum(share: float) -> np.ndarray:
        """Where `share·½·known·(z - best)² + ½·z²/σ²` has the slope 0."""
        return share * known * best / (share * known + sigma**-2)

    weights = Weights(optimum(1.0) @ mixing, np.zeros(structure.n_transitions))
    found = Gaussian(sigma).with_share(share, weights, known, structure)
    np.testing.assert_allclose(found.features, optimum(share) @ mixing, atol=1e-12)
    assert not found.transitions.any()


def test_other_penalties_cannot_tell_how_less_of_the_corpus_would_be() -> None:
    class Other(Penalty):
        def at_zero(self, shape, n_transitions):
            return Gaussian().at_zero(shape, n_transitions)

        def at_weights(self, weights, hessian_diagonal, transition_columns):
            return Gaussian().at_weights(weights, hessian_diagonal, transition_columns)

    structure = LinearChain(TagSet("IOB2", ("A",)).lattice(label_pairs=True))
    weights = Weights(np.zeros((1, structure.n_columns)), np.zeros(structure.n_transitions))
    with pytest.raises(ConfigError, match="old share of 1"):
        Other().with_share(0.5, weights, weights.features, structure)


def test_a_narrow_penalty_around_trained_weights() -> None:
    """1/σ² is added to what the data have determined; columns stand for their transitions."""
    known = np.array([[8.0, 0.0], [2.0, 4.0]])
    weights, columns = Weights(np.ones((2, 2)), np.ones(3)), np.array([0, 1, 1], dtype=np.int32)
    penalty = Gaussian(0.5).at_weights(weights, known, columns)
    np.testing.assert_array_equal(penalty.precision, known + 4.0)
    np.testing.assert_array_equal(penalty.transition_precision, [12.0, 8.0, 8.0])
    np.testing.assert_array_equal(penalty.of_features(slice(0, 2), np.ones((2, 2)))[1], known + 4.0)
    np.testing.assert_array_equal(penalty.of_transitions(np.ones(3))[1], [12.0, 8.0, 8.0])
    np.testing.assert_allclose(penalty.inherited(), known)
    of_features, of_transitions = penalty.curvature()
    np.testing.assert_array_equal(of_features, [8.0, 7.0])
    np.testing.assert_array_equal(of_transitions, penalty.transition_precision)
    assert penalty.centre is weights


def test_the_penalty_of_some_weights_alone(generator: np.random.Generator) -> None:
    """They are rows of one column, in any order; transitions stay as they are."""
    features, known = generator.normal(size=(2, 4, 3))
    weights, columns = Weights(features, generator.normal(size=3)), np.arange(3, dtype=np.int32)
    whole = Gaussian(0.5).at_weights(weights, np.abs(known), columns)
    rows, places = np.array([3, 0, 3], dtype=np.int32), np.array([1, 2, 0], dtype=np.int32)
    some = whole.at_places(rows, places)
    np.testing.assert_array_equal(some.centre.features[:, 0], features[rows, places])
    np.testing.assert_array_equal(some.precision[:, 0], whole.precision[rows, places])
    np.testing.assert_array_equal(some.inherited()[:, 0], whole.inherited()[rows, places])
    assert some.centre.transitions is weights.transitions
    assert some.transition_precision is whole.transition_precision
    values, gradient = some.of_features(slice(1, 3), np.array([[2.0], [-1.0]]))
    np.testing.assert_allclose(gradient[:, 0], [2.0, -1.0] * whole.precision[rows, places][1:])
    np.testing.assert_allclose(values, [2.0, 0.5] * whole.precision[rows, places][1:])


@pytest.mark.parametrize("n_features", [0, 2])
def test_where_nothing_is_known_there_is_the_width_alone(n_features: int) -> None:
    weights = Weights(np.ones((n_features, 2)), np.ones(2))
    penalty = Gaussian(0.5).at_weights(weights, None, np.array([0, 1], dtype=np.int32))
    np.testing.assert_array_equal(penalty.precision, np.full((n_features, 2), 4.0))
    np.testing.assert_array_equal(penalty.transition_precision, [4.0, 4.0])
