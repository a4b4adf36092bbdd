"""Loss and penalty as a function of parameters: value, gradient, optimum, threads."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize

from objectives import central_differences, data_of, objective_of, start
from reference import Corpus
from spacy_cascade.inference.lattice import Lattice, choice_lattice
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.inference.structure import Weights
from spacy_cascade.losses.base import LabelledSequences
from spacy_cascade.losses.margin import Likelihood, MarginLoss, SoftmaxMargin
from spacy_cascade.penalties.gaussian import CentredGaussian, Gaussian
from spacy_cascade.trainers.objective import Objective
from strategies import LABELS, random_corpus, wide_design

LENGTHS = [3, 1, 0, 4, 2]
TIGHT = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 2000, "maxfun": 4000}
LOSS, SIGMA = SoftmaxMargin(kappa=0.8, false_negative_weight=1.5), 0.7


def random_problem(
    generator: np.random.Generator,
    lattice: Lattice,
    lengths: list[int] = LENGTHS,
    loss: MarginLoss = LOSS,
    **settings: Any,
) -> tuple[Objective, Corpus]:
    costs = loss.label_costs(lattice.n_labels)
    design, corpus = random_corpus(generator, lattice, lengths, costs, SIGMA, **settings)
    return objective_of(data_of(design, corpus), loss, SIGMA), corpus


def check_gradient(problem: Objective, parameters: npt.NDArray[np.float64]) -> float:
    """It is the slope of the value, again and again, and the parameters stay as they are."""
    before = parameters.copy()
    value, gradient = problem.value_and_gradient(parameters)
    again = problem.value_and_gradient(parameters)
    assert value == again[0]
    assert gradient is not again[1]
    np.testing.assert_array_equal(gradient, again[1])
    np.testing.assert_array_equal(parameters, before)
    expected = central_differences(problem, parameters)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)
    return value


@pytest.mark.parametrize(
    ("scheme", "n_labels", "label_pairs"),
    [
        ("IOB2", 1, False), ("IOB2", 2, True), ("BILOU", 2, False), ("BILOU", 1, True),
        ("choice", 4, False),
    ],
)  # fmt: skip
def test_gradient_is_the_slope_of_the_value(scheme, n_labels, label_pairs, generator):
    """And the value is the loss of all sequences in log space, with the prior on the weights."""
    lattice, lengths = choice_lattice(n_labels), [1] * 12
    if scheme != "choice":
        lattice, lengths = TagSet(scheme, LABELS[:n_labels]).lattice(label_pairs), LENGTHS
    problem, corpus = random_problem(generator, lattice, lengths)
    parameters = generator.normal(size=problem.n_parameters)
    value = check_gradient(problem, parameters)
    assert value == pytest.approx(corpus.value(*problem.weights(parameters)), rel=1e-9)


@pytest.mark.parametrize("label_pairs", [False, True])
def test_parameters_and_weights_are_inverse(label_pairs, generator):
    problem, _ = random_problem(generator, TagSet("BILOU", LABELS).lattice(label_pairs))
    parameters = generator.normal(size=problem.n_parameters)
    weights, transitions = problem.weights(parameters)
    kept = weights.copy()
    found = problem.parameters(Weights(weights, transitions))
    np.testing.assert_allclose(found, parameters, rtol=1e-9)
    found += 1.0
    np.testing.assert_array_equal(weights, kept)
    # Published weights are single precision: they must do as well.
    again = problem.parameters(Weights(weights.astype(np.float32), transitions))
    assert again.dtype == np.float64
    np.testing.assert_allclose(again, parameters, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("label_pairs", [False, True])
def test_same_bits_for_any_number_of_threads(label_pairs, generator):
    lattice = TagSet("IOB2", LABELS).lattice(label_pairs)
    tags = np.where(generator.random(9_000) < 0.1, -1, 0).astype(np.int32)
    design = wide_design(generator, len(tags))
    starts = np.append(np.arange(0, len(tags), 7), len(tags)).astype(np.int64)
    data = LabelledSequences((design,), LinearChain(lattice), tags, starts)
    results = []
    for threads in (1, 2, 3):
        problem = objective_of(data, LOSS, SIGMA, threads)
        parameters = np.random.default_rng(5).normal(size=problem.n_parameters)
        results.append(problem.value_and_gradient(parameters))
    for value, gradient in results[1:]:
        assert value == results[0][0]
        np.testing.assert_array_equal(gradient, results[0][1])


def centred_problem(
    generator: np.random.Generator, lattice: Lattice
) -> tuple[Objective, CentredGaussian, Corpus]:
    """With every tag observed, so that there is one optimum.

    The penalty's centre and precisions are all different.
    """
    costs = LOSS.label_costs(lattice.n_labels)
    design, corpus = random_corpus(generator, lattice, [4, 3, 5, 2, 4], costs, SIGMA, missing=0.0)
    shape, n_edges = (corpus.matrix.shape[1], lattice.n_columns), lattice.n_edges
    centre, precision = generator.normal(size=shape), generator.uniform(0.5, 3.0, shape)
    transitions = generator.normal(size=n_edges)
    penalty = CentredGaussian(
        Weights(centre, transitions), precision, generator.uniform(0.5, 3.0, n_edges), SIGMA
    )
    return objective_of(data_of(design, corpus), LOSS, penalty), penalty, corpus


@pytest.mark.parametrize("label_pairs", [False, True])
def test_optimum_under_a_centred_prior(label_pairs, generator):
    """That of the loss and the formula of `penalties.gaussian`, by SciPy."""
    lattice = TagSet("IOB2", LABELS[:1]).lattice(label_pairs)
    problem, penalty, corpus = centred_problem(generator, lattice)
    check_gradient(problem, generator.normal(size=problem.n_parameters))
    assert not problem.parameters(penalty.centre).any()
    inverse = np.linalg.inv(LinearChain(lattice).columns.mixing)
    shape = problem.parametrisation.shape
    size = shape[0] * shape[1]

    def value(parameters: npt.NDArray[np.float64]):
        weights = parameters[:size].reshape(shape)
        transitions = penalty.centre.transitions if label_pairs else parameters[size:]
        loss, by_scores, by_transitions = corpus.loss(corpus.matrix @ weights, transitions)
        moved = (weights - penalty.centre.features) @ inverse
        shifted = transitions - penalty.centre.transitions
        loss += 0.5 * (penalty.precision * moved**2).sum()
        loss += 0.5 * (penalty.transition_precision * shifted**2).sum()
        gradient = corpus.matrix.T @ by_scores + (penalty.precision * moved) @ inverse.T
        by_transitions = by_transitions + penalty.transition_precision * shifted
        return loss, np.append(gradient.ravel(), [] if label_pairs else by_transitions)

    expected = minimize(
        value, np.zeros(problem.n_parameters), jac=True, method="L-BFGS-B", options=TIGHT
    )
    found = start(problem, np.zeros(problem.n_parameters), tolerance=1e-10)
    assert found.run(500) == pytest.approx(expected.fun, rel=1e-9)
    weights, _ = problem.weights(found.parameters)
    np.testing.assert_allclose(weights.ravel(), expected.x[:size], atol=1e-5)


def test_curvature_is_the_second_derivative_of_free_choices(generator):
    """Exactly, where each unit is a sequence of its own and `M` the identity."""
    problem, corpus = random_problem(generator, choice_lattice(4), lengths=[1] * 12)
    parameters = generator.normal(size=problem.n_parameters)
    weights, transitions = problem.weights(parameters)
    binary = np.flatnonzero(corpus.matrix.max(axis=0) == 1)
    assert len(binary)
    curvature = problem.hessian_diagonal(parameters)
    step, precision = 1e-4, SIGMA**-2
    for place in product(binary, range(problem.parametrisation.shape[1])):
        values = []
        for move in (-step, 0.0, step):
            moved = weights.copy()
            moved[place] += move
            values.append(
                problem.value_and_gradient(problem.parameters(Weights(moved, transitions)))[0]
            )
        second = (values[0] - 2 * values[1] + values[2]) / step**2
        assert curvature[place] == pytest.approx(second - precision, abs=1e-4)


def test_curvature_has_what_earlier_corpora_gave(generator):
    """The penalty's centre holds it; its width alone is no knowledge."""
    lattice = choice_lattice(3)
    costs = LOSS.label_costs(lattice.n_labels)
    design, corpus = random_corpus(generator, lattice, [1] * 9, costs, SIGMA)
    data, shape = data_of(design, corpus), (corpus.matrix.shape[1], lattice.n_columns)
    weights = Weights(generator.normal(size=shape), np.zeros(lattice.n_edges))
    known = generator.uniform(0.1, 5.0, shape)
    penalty = Gaussian(SIGMA).at_weights(weights, known, data.structure.columns.of_transition)
    alone, after = (objective_of(data, LOSS, each) for each in (SIGMA, penalty))
    np.testing.assert_allclose(
        after.hessian_diagonal(after.parameters(weights)),
        alone.hessian_diagonal(alone.parameters(weights)) + known, rtol=1e-9,
    )  # fmt: skip


@pytest.mark.parametrize("label_pairs", [False, True])
def test_parameters_have_the_scale_of_their_expected_curvature(label_pairs, generator):
    """`z = d u`, with the `d` of docs/method.md, section 5.2."""
    lattice = TagSet("IOB2", LABELS).lattice(label_pairs)
    problem, penalty, corpus = centred_problem(generator, lattice)
    counts = corpus.matrix.sum(axis=0)
    of_features = (0.05 * counts + penalty.precision.mean(axis=1)) ** -0.5
    of_transitions = (0.05 * len(corpus.tags) + penalty.transition_precision) ** -0.5
    weights = problem.weights(np.ones(problem.n_parameters))
    mixing = LinearChain(lattice).columns.mixing
    np.testing.assert_allclose(
        weights.features - penalty.centre.features,
        of_features[:, None] * mixing.sum(axis=0), rtol=1e-9,
    )  # fmt: skip
    np.testing.assert_allclose(
        weights.transitions - penalty.centre.transitions,
        np.zeros(lattice.n_edges) if label_pairs else of_transitions, rtol=1e-9, atol=1e-12,
    )  # fmt: skip


@dataclass
class ExplicitModel:
    """A chain with a weight for every label and another for every label pair.

    Its prior is the same for all of them, and it knows nothing of mixing. Parameters are
    label weights `[K, Y]` and pair weights `[K, E]`.
    """

    corpus: Corpus

    def edge_weights(self, parameters: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        lattice = self.corpus.lattice
        n_features = self.corpus.matrix.shape[1]
        cut = n_features * lattice.n_labels
        by_label = parameters[:cut].reshape(n_features, lattice.n_labels)
        return by_label[:, lattice.target] + parameters[cut:].reshape(n_features, lattice.n_edges)

    def __call__(self, parameters: npt.NDArray[np.float64]):
        lattice, matrix = self.corpus.lattice, self.corpus.matrix
        scores = matrix @ self.edge_weights(parameters)
        loss, by_scores, _ = self.corpus.loss(scores, np.zeros(lattice.n_edges))
        by_pair = matrix.T @ by_scores
        by_label = np.stack(
            [by_pair[:, lattice.target == y].sum(axis=1) for y in range(lattice.n_labels)], axis=1
        )
        precision = self.corpus.sigma**-2
        gradient = np.concatenate([by_label.ravel(), by_pair.ravel()]) + precision * parameters
        return loss + 0.5 * precision * (parameters**2).sum(), gradient


@pytest.mark.parametrize("scheme", ["IOB2", "BILOU"])
def test_mixing_does_the_work_of_label_and_pair_weights(scheme, generator):
    """Edge weights alone, mixed, have the optimum of a model with both kinds of weights."""
    lattice = TagSet(scheme, LABELS[:1]).lattice(label_pairs=True)
    problem, corpus = random_problem(generator, lattice, [4, 3, 5, 2], n_features=4)
    explicit = ExplicitModel(corpus)
    zeros = np.zeros(corpus.matrix.shape[1] * (lattice.n_labels + lattice.n_edges))
    expected = minimize(explicit, zeros, jac=True, method="L-BFGS-B", options=TIGHT)
    found = start(problem, np.zeros(problem.n_parameters), tolerance=1e-10)
    assert found.run(500) == pytest.approx(expected.fun, rel=1e-9)
    weights, _ = problem.weights(found.parameters)
    np.testing.assert_allclose(weights, explicit.edge_weights(expected.x), atol=1e-5)


@dataclass(frozen=True)
class CostsByLabel(MarginLoss):
    """A loss of one's own: what it costs to say each label where another is right."""

    by_label: tuple[float, ...]

    def label_costs(self, n_labels: int) -> npt.NDArray[np.float64]:
        costs = np.tile(np.array(self.by_label), (n_labels, 1))
        np.fill_diagonal(costs, 0.0)
        return costs


@pytest.mark.parametrize(
    ("loss", "n_features"), [(CostsByLabel((0.1, 2.0, 0.5)), 6), (Likelihood(), 0)]
)
def test_a_loss_with_a_margin_is_one_class(loss, n_features, generator):
    """A model whose features were all too rare still has its transitions."""
    lattice = TagSet("IOB2", LABELS[:1]).lattice(label_pairs=False)
    problem, corpus = random_problem(generator, lattice, loss=loss, n_features=n_features)
    run = start(problem, np.zeros(problem.n_parameters))
    before = run.value
    assert run.run(20) < before
    weights, transitions = problem.weights(run.parameters)
    assert run.value == pytest.approx(corpus.value(weights, transitions), rel=1e-9)
