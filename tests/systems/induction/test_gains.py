"""Gains of candidates against refits of one weight with SciPy, and against the formula itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

from reference import design_of, encoded_of, rows_from_dense, scores_of
from spacy_cascade.inference.lattice import choice_lattice
from spacy_cascade.inference.linear_chain import FreeChoice
from spacy_cascade.inference.structure import Weights
from spacy_cascade.losses.base import CorpusLoss, LabelledSequences
from spacy_cascade.losses.margin import Likelihood, SoftmaxMargin
from spacy_cascade.numeric.csr import BinaryCSR
from spacy_cascade.parallel import Workers
from spacy_cascade.systems.induction import gains as kernels
from spacy_cascade.systems.induction.candidates import transposed
from spacy_cascade.systems.induction.gains import screen

N_UNITS, N_LABELS, N_TESTS = 40, 3, 6


def choices(generator: np.random.Generator) -> tuple[LabelledSequences, np.ndarray]:
    """Single choices with random features, and the features as a matrix."""
    matrix = (generator.random((N_UNITS, N_TESTS)) < 0.4).astype(np.int64)
    labels = generator.integers(0, N_LABELS, N_UNITS).astype(np.int32)
    structure = FreeChoice(choice_lattice(N_LABELS))
    encoded = encoded_of(rows_from_dense(matrix))
    return LabelledSequences(encoded, structure, labels, np.arange(N_UNITS + 1)), matrix


def newton_gains(rows: BinaryCSR, *arguments):
    """Weights and gains of candidates that hold in the units of their rows."""
    return kernels.newton_gains(rows.indptr, rows.indices, *arguments)


def probabilities(data: LabelledSequences, weights: Weights, loss) -> np.ndarray:
    """Those of the labels, from the scores, by the definition of the loss."""
    scores = scores_of(design_of(data), weights.features, Workers(1)) + weights.transitions
    scores += loss.label_costs(N_LABELS)[data.observed]
    exponents = np.exp(scores - scores.max(axis=1, keepdims=True))
    return exponents / exponents.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("loss", [Likelihood(), SoftmaxMargin(kappa=1.5)])
def test_gain_is_what_a_refit_of_one_weight_gains(loss, generator):
    """A single choice depends on no other one, so the mean field is exact."""
    data, matrix = choices(generator)
    precision = 1 / 0.7**2
    weights = Weights(0.3 * generator.normal(size=(N_TESTS, N_LABELS)), np.zeros(N_LABELS))
    observed = np.eye(N_LABELS)[data.observed]
    rows = transposed(rows_from_dense(matrix))
    found, gains = newton_gains(rows, probabilities(data, weights, loss), observed, precision)
    corpus_loss = CorpusLoss(data, loss, Workers(1))
    unused = np.empty((N_TESTS, N_LABELS))
    before, _ = corpus_loss.value_and_gradient(weights, unused)
    for test in range(N_TESTS):
        for label in range(N_LABELS):

            def objective(mu, test=test, label=label):
                features = weights.features.copy()
                features[test, label] += mu
                moved = Weights(features, weights.transitions)
                return corpus_loss.value_and_gradient(moved, unused)[0] + 0.5 * precision * mu**2

            best = minimize_scalar(objective, bounds=(-9, 9), method="bounded",
                                   options={"xatol": 1e-10})  # fmt: skip
            assert found[test, label] == pytest.approx(best.x, abs=1e-5)
            assert gains[test, label] == pytest.approx(before - best.fun, abs=1e-8)


@pytest.mark.parametrize("sigma", [0.1, 1.0, 4.0])
def test_newton_finds_the_maximum_of_the_formula(sigma, generator):
    """Also of labels that are almost certain, or never seen, where Newton's steps are too long."""
    n = 30
    marginals = generator.dirichlet([0.05, 0.3, 0.3], size=n)
    observed = np.eye(3)[generator.choice(2, size=n)]
    matrix = (generator.random((4, n)) < 0.5).astype(np.int64)
    found, gains = newton_gains(rows_from_dense(matrix), marginals, observed, sigma**-2)
    for candidate, row in enumerate(matrix > 0):
        for label in range(3):
            p, o = marginals[row, label], observed[row, label]

            def negative(mu, p=p, o=o):
                terms = mu * o - np.log1p(p * np.expm1(mu))
                return 0.5 * (mu / sigma) ** 2 - terms.sum()

            best = minimize_scalar(negative, bounds=(-60, 60), method="bounded",
                                   options={"xatol": 1e-9})  # fmt: skip
            assert gains[candidate, label] >= -best.fun - 1e-3 * max(1.0, -best.fun)
            assert gains[candidate, label] == pytest.approx(-negative(found[candidate, label]))


def test_screen_counts_conjunctions_as_a_dense_product_does(generator):
    n_units, n_tests, n_parents = 50, 7, 4
    tests = (generator.random((n_units, n_tests)) < 0.4).astype(np.int64)
    parents = (generator.random((n_parents, n_units)) < 0.5).astype(np.int64)
    tests[:, 5] |= parents[1]  # holds wherever parent 1 does
    joins = np.arange(n_tests) != 6
    marginals = generator.dirichlet([1.0, 1.0, 1.0], size=n_units)
    residuals = np.eye(3)[generator.choice(3, size=n_units)] - marginals
    variances, precision, least, floor = marginals * (1 - marginals), 2.0, 3, 0.1
    expected = {}
    for f in range(n_parents):
        for t in np.flatnonzero(joins):
            both = (parents[f] & tests[:, t]).astype(bool)
            steps = residuals[both].sum(axis=0) ** 2
            gain = (steps / (2 * (variances[both].sum(axis=0) + precision))).sum()
            if least <= both.sum() < parents[f].sum() and gain > floor:
                expected[f, int(t)] = gain
    of_parents, of_units = rows_from_dense(parents), rows_from_dense(tests)
    found = {}
    for begin, end in ((0, 2), (2, 4)):
        parent, test, gain = screen(
            of_parents.indptr, of_parents.indices, of_units.indptr, of_units.indices, joins,
            residuals, variances, precision, least, floor, begin, end,
        )  # fmt: skip
        found |= dict(zip(zip(parent.tolist(), test.tolist(), strict=True), gain, strict=True))
    assert found == pytest.approx(expected)
    assert (1, 5) not in expected
    assert len(expected) > 5


def test_newton_steps_that_jump_over_the_maximum_and_back():
    """From 0 to 5, and back to 0, where it began: then half of the interval is tried.

    Without a prior the maximum is where `q` is the share of the units with the label, one half.
    """
    p = 0.09
    rows = rows_from_dense(np.ones((1, 10), dtype=np.int64))
    marginals, observed = np.full((10, 1), p), (np.arange(10) < 5).astype(float)[:, None]
    weights, _ = newton_gains(rows, marginals, observed, 1e-9)
    assert weights[0, 0] == pytest.approx(np.log((1 - p) / p), abs=1e-6)
    # The same to the other side: the label is as probable as it was improbable.
    weights, _ = newton_gains(rows, 1 - marginals, observed, 1e-9)
    assert weights[0, 0] == pytest.approx(-np.log((1 - p) / p), abs=1e-6)


def test_newton_halves_an_interval_far_from_zero():
    """Three units have a label that was next to impossible, and six of eight one of one half."""
    p = np.repeat([1e-8, 0.5], [3, 8])
    observed, precision = (np.arange(11) < 9).astype(float), 1e-3

    def slope(mu):
        odds = p * np.exp(mu)
        return (observed - odds / (1 - p + odds)).sum() - mu * precision

    rows = rows_from_dense(np.ones((1, 11), dtype=np.int64))
    weights, _ = newton_gains(rows, p[:, None], observed[:, None], precision)
    assert weights[0, 0] == pytest.approx(brentq(slope, -50.0, 50.0), abs=1e-4)


def test_screen_finds_thousands_of_candidates(generator):
    """More than there is room for at first; the least count counts, gains of zero do not."""
    n_units, n_tests = 12, 1500
    tests = (generator.random((n_units, n_tests)) < 0.4).astype(np.int64)
    parents = np.ones((2, n_units), dtype=np.int64)
    parents[0, :3] = 0
    residuals = generator.normal(size=(n_units, 2))
    residuals[:, 1] = residuals[:4] = 0.0
    tests[:, 7] = np.arange(n_units) < 4
    of_parents, of_units = rows_from_dense(parents), rows_from_dense(tests)
    parent, test, gain = screen(
        of_parents.indptr, of_parents.indices, of_units.indptr, of_units.indices,
        np.ones(n_tests, dtype=np.bool_), residuals, np.ones((n_units, 2)), 2.0, 4, 0.0, 0, 2,
    )  # fmt: skip
    counts = parents @ tests
    wanted = (counts >= 4) & (counts < parents.sum(axis=1, keepdims=True))
    assert wanted[1, 7]
    wanted &= (parents * (residuals[:, 0] != 0.0)) @ tests > 0
    pairs = sorted(zip(parent.tolist(), test.tolist(), strict=True))
    assert pairs == list(zip(*(axis.tolist() for axis in np.nonzero(wanted)), strict=True))
    sums = (parents * residuals[:, 0]) @ tests
    np.testing.assert_allclose(gain, sums[parent, test] ** 2 / (2 * (counts[parent, test] + 2.0)))
    assert len(gain) > 1024
    assert (counts[parent, test] == 4).any()
    assert (parent.dtype, test.dtype) == (np.int32, np.int32)
