"""The weights that a reranker's training gives, against their history."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_cascade.inference.structure import Weights
from spacy_cascade.numeric.design import Design
from spacy_cascade.systems.reranking.minimum_risk import (
    Learnt,
    Lists,
    MinimumRiskFit,
    RiskData,
    minimum_risk,
)
from strategies import random_design

N_FEATURES, N_CLASSES = 4, 2
RATE = 0.5


def risk_data(generator: np.random.Generator, design: Design, units: np.ndarray) -> RiskData:
    """Sentences of two spans each, of which a segmentation has the one or the other."""
    n = len(units)
    numbers = np.arange(n + 1)
    lists = Lists(
        numbers[::2], numbers[::2], numbers, numbers[:-1].astype(np.int32),
        generator.normal(size=n), generator.normal(size=(n, N_CLASSES)),
    )  # fmt: skip
    rows = design.unit_lexemes.take(units), design.unit_features.take(units)
    errors = generator.choice([-1.0, 1.0], (n, N_CLASSES))
    return RiskData(Design(design.lexeme_features, *rows), lists, errors)


@pytest.fixture
def start(generator: np.random.Generator) -> Weights:
    features = generator.normal(size=(N_FEATURES, N_CLASSES))
    return Weights(features.astype(np.float32), np.arange(3.0))


def learn_alone(data: RiskData, n_before: int, learnt: Learnt) -> None:
    """One step of the kernel, from the only sentence of a batch."""
    rows = data.design.active_features()
    order = np.zeros(1, dtype=np.int64)
    minimum_risk(rows.indptr, rows.indices, data.lists, data.errors, order, RATE, n_before, learnt)


def test_weights_are_the_mean_after_each_sentence(
    generator: np.random.Generator, start: Weights
) -> None:
    design = random_design(generator, 12, N_FEATURES)
    batches = [risk_data(generator, design, np.array([u, u + 1])) for u in range(0, 12, 2)]
    fit, shape = MinimumRiskFit(start, RATE), start.features.shape
    learnt = Learnt(start.features.astype(np.float64), np.zeros(shape), np.full(shape, 0.3))
    history = []
    np.testing.assert_array_equal(fit.weights().features, start.features)
    assert not fit.weights_are_stale
    assert not fit.hessian_is_stale
    for number, batch in enumerate(batches):
        fit.step(batch)
        learn_alone(batch, number, learnt)
        history.append(learnt.weights.copy())
        found = fit.weights()
        np.testing.assert_allclose(found.features, np.mean(history, axis=0), rtol=1e-12)
        np.testing.assert_array_equal(found.transitions, start.transitions)
    assert fit.weights_are_stale
    assert fit.hessian_is_stale
    assert np.abs(history[-1] - np.mean(history, axis=0)).max() > 1e-3, "the last are others"


def test_risks_of_a_batch_are_added_up_and_seeds_are_orders(
    generator: np.random.Generator, start: Weights
) -> None:
    data = risk_data(generator, random_design(generator, 12, N_FEATURES), np.arange(12))
    first, again, other = (MinimumRiskFit(start, RATE, seed) for seed in (1, 1, 2))
    risks = [fit.step(data) for fit in (first, again, other)]
    assert risks[0] == risks[1] != risks[2]
    np.testing.assert_array_equal(first.weights().features, again.weights().features)
    assert not np.array_equal(first.weights().features, other.weights().features)
    # With a rate of zero nothing is learnt, and each sentence has the risk of the start.
    still = MinimumRiskFit(start, rate=0.0)
    assert still.step(data) == pytest.approx(still.step(data))
    assert still.step(data) == pytest.approx(MinimumRiskFit(start, 0.0, seed=2).step(data))
