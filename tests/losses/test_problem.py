"""The loss of a corpus: value, gradient, prior, threads."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize
from spacy_cascade.losses.problem import ChainProblem, Objective, observation_costs

from reference import Chain, Corpus, chain_loss
from spacy_cascade.inference.lattice import Lattice, choice_lattice, label_pair_mixing
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.inference.viterbi import viterbi
from spacy_cascade.losses.margin import Likelihood, SoftmaxMargin
from spacy_cascade.numeric.design import Design
from spacy_cascade.parallel import Workers
from spacy_cascade.penalties.gaussian import Prior
from spacy_cascade.trainers.lbfgs import LBFGS
from strategies import LABELS, random_corpus

CHAINS = list(product(("IOB2", "BILOU"), (LABELS[:1], LABELS), (False, True)))
LENGTHS = [3, 1, 0, 4, 2]
OBJECTIVE = SoftmaxMargin(kappa=0.8, sigma=0.7, miss=1.5)


def problem_of(design: Design, corpus: Corpus, objective: Objective, threads: int = 1):
    return ChainProblem(
        design, corpus.lattice, objective, corpus.tags, corpus.starts, Workers(threads)
    )


def random_problem(
    generator: np.random.Generator, lattice: Lattice, objective: Objective = OBJECTIVE,
    lengths: list[int] = LENGTHS,
) -> tuple[ChainProblem, Corpus]:  # fmt: skip
    costs = objective.costs(lattice.n_labels)
    design, corpus = random_corpus(generator, lattice, lengths, costs, objective.sigma)
    return problem_of(design, corpus, objective), corpus


def n_parameters(problem: ChainProblem) -> int:
    scores, transitions = problem.shape, problem.lattice.n_edges
    return scores[0] * scores[1] + (0 if problem.lattice.label_pairs else transitions)


def central_differences(problem: ChainProblem, parameters: npt.NDArray[np.float64]):
    """Numerical gradient of order four, so that a wide step is exact enough."""
    step = 1e-3
    gradient = np.empty_like(parameters)
    for i in range(len(parameters)):
        change = np.zeros_like(parameters)
        change[i] = step
        values = [
            problem.value_and_gradient(parameters + factor * change)[0] for factor in (-2, -1, 1, 2)
        ]
        gradient[i] = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step)
    return gradient


@pytest.mark.parametrize(("scheme", "labels", "label_pairs"), CHAINS)
def test_gradient_is_the_slope_of_the_value(scheme, labels, label_pairs, generator):
    problem, _ = random_problem(generator, TagSet(scheme, labels).lattice(label_pairs))
    parameters = generator.normal(size=n_parameters(problem))
    _, gradient = problem.value_and_gradient(parameters)
    np.testing.assert_allclose(
        gradient, central_differences(problem, parameters), rtol=1e-6, atol=1e-8
    )


def test_gradient_of_free_choices(generator):
    problem, _ = random_problem(generator, choice_lattice(4), lengths=[1] * 12)
    parameters = generator.normal(size=n_parameters(problem))
    _, gradient = problem.value_and_gradient(parameters)
    np.testing.assert_allclose(
        gradient, central_differences(problem, parameters), rtol=1e-6, atol=1e-8
    )


@pytest.mark.parametrize(("scheme", "labels", "label_pairs"), CHAINS)
def test_value_is_that_of_the_weights(scheme, labels, label_pairs, generator):
    """The loss of every sequence in log space, and the prior on label and pair weights."""
    problem, corpus = random_problem(generator, TagSet(scheme, labels).lattice(label_pairs))
    parameters = generator.normal(size=n_parameters(problem))
    value, _ = problem.value_and_gradient(parameters)
    assert value == pytest.approx(corpus.value(*problem.weights(parameters)), rel=1e-9)


def test_value_of_free_choices(generator):
    problem, corpus = random_problem(generator, choice_lattice(5), lengths=[1] * 9)
    parameters = generator.normal(size=n_parameters(problem))
    value, _ = problem.value_and_gradient(parameters)
    assert value == pytest.approx(corpus.value(*problem.weights(parameters)), rel=1e-9)


@pytest.mark.parametrize("label_pairs", [False, True])
def test_parameters_and_weights_are_inverse(label_pairs, generator):
    problem, _ = random_problem(generator, TagSet("BILOU", LABELS).lattice(label_pairs))
    parameters = generator.normal(size=n_parameters(problem))
    weights, transitions = problem.weights(parameters)
    np.testing.assert_allclose(problem.parameters(weights, transitions), parameters, rtol=1e-9)
    # Published weights are single precision: they must do as well.
    again = problem.parameters(weights.astype(np.float32), transitions)
    assert again.dtype == np.float64
    np.testing.assert_allclose(again, parameters, rtol=1e-4, atol=1e-5)


def test_parameters_do_not_share_memory_with_weights(generator):
    problem, _ = random_problem(generator, choice_lattice(3), lengths=[1, 1, 1])
    weights, transitions = problem.weights(np.zeros(n_parameters(problem)))
    parameters = problem.parameters(weights, transitions)
    parameters += 1.0
    assert not weights.any()


@pytest.mark.parametrize("label_pairs", [False, True])
def test_same_bits_for_any_number_of_threads(label_pairs, generator):
    lattice = TagSet("IOB2", LABELS).lattice(label_pairs)
    tags = np.zeros(12_000, dtype=np.int32)
    tags[generator.random(len(tags)) < 0.1] = -1
    design = wide_design(generator, len(tags))
    starts = np.append(np.arange(0, len(tags), 7), len(tags)).astype(np.int64)
    results = []
    for threads in (1, 2, 3):
        problem = ChainProblem(design, lattice, OBJECTIVE, tags, starts, Workers(threads))
        parameters = np.random.default_rng(5).normal(size=n_parameters(problem))
        results.append(problem.value_and_gradient(parameters))
    for value, gradient in results[1:]:
        assert value == results[0][0]
        np.testing.assert_array_equal(gradient, results[0][1])


def wide_design(generator: np.random.Generator, n_units: int) -> Design:
    """A design so large that its work is cut into pieces."""
    from spacy_cascade.numeric.design import BinaryCSR

    def rows(n_rows: int, per_row: int, n_columns: int) -> BinaryCSR:
        starts = np.arange(n_rows + 1, dtype=np.int64) * per_row
        columns = generator.integers(0, n_columns, n_rows * per_row).astype(np.int32)
        return BinaryCSR(starts, columns, n_columns)

    return Design(rows(4000, 4, 3000), rows(n_units, 3, 4000), rows(n_units, 2, 3000))


def centred(generator: np.random.Generator, shape: tuple[int, int], n_edges: int) -> Prior:
    """A prior whose means and precisions are all different."""
    return Prior(
        generator.normal(size=shape), generator.uniform(0.5, 3.0, shape),
        generator.normal(size=n_edges), generator.uniform(0.5, 3.0, n_edges),
    )  # fmt: skip


def centred_problem(generator, lattice: Lattice) -> tuple[ChainProblem, Corpus]:
    """With every tag observed, so that there is one optimum."""
    costs = OBJECTIVE.costs(lattice.n_labels)
    design, corpus = random_corpus(
        generator, lattice, [4, 3, 5, 2, 4], costs, OBJECTIVE.sigma, missing=0.0
    )
    prior = centred(generator, (corpus.matrix.shape[1], lattice.n_columns), lattice.n_edges)
    arguments = (design, lattice, OBJECTIVE, corpus.tags, corpus.starts, Workers(1))
    return ChainProblem(*arguments, prior), corpus


@pytest.mark.parametrize("label_pairs", [False, True])
def test_gradient_under_a_centred_prior(label_pairs, generator):
    problem, _ = centred_problem(generator, TagSet("BILOU", LABELS).lattice(label_pairs))
    parameters = generator.normal(size=n_parameters(problem))
    _, gradient = problem.value_and_gradient(parameters)
    np.testing.assert_allclose(
        gradient, central_differences(problem, parameters), rtol=1e-6, atol=1e-8
    )
    start = problem.parameters(problem.prior.mean, problem.prior.transitions)
    assert not start.any()
    again = problem.parameters(*problem.weights(parameters))
    np.testing.assert_allclose(again, parameters, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("label_pairs", [False, True])
def test_optimum_under_a_centred_prior(label_pairs, generator):
    """That of the loss and the formula of `objectives.prior`, by SciPy."""
    lattice = TagSet("IOB2", LABELS[:1]).lattice(label_pairs)
    problem, corpus = centred_problem(generator, lattice)
    prior, inverse = problem.prior, np.linalg.inv(label_pair_mixing(lattice))
    size = problem.shape[0] * problem.shape[1]

    def value(parameters: npt.NDArray[np.float64]):
        weights = parameters[:size].reshape(problem.shape)
        transitions = prior.transitions if label_pairs else parameters[size:]
        loss, by_scores, by_transitions = corpus.loss(corpus.matrix @ weights, transitions)
        moved, shifted = (weights - prior.mean) @ inverse, transitions - prior.transitions
        loss += 0.5 * (prior.precision * moved**2).sum()
        loss += 0.5 * (prior.transition_precision * shifted**2).sum()
        gradient = corpus.matrix.T @ by_scores + (prior.precision * moved) @ inverse.T
        by_transitions = by_transitions + prior.transition_precision * shifted
        return loss, np.append(gradient.ravel(), [] if label_pairs else by_transitions)

    tight = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 2000, "maxfun": 4000}
    expected = minimize(
        value, np.zeros(n_parameters(problem)), jac=True, method="L-BFGS-B", options=tight
    )
    found = LBFGS(tolerance=1e-10, threads=1).start(
        problem, np.zeros(n_parameters(problem)), Workers(1)
    )
    assert found.run(500) == pytest.approx(expected.fun, rel=1e-9)
    weights, _ = problem.weights(found.parameters)
    np.testing.assert_allclose(weights.ravel(), expected.x[:size], atol=1e-5)


def test_curvature_is_the_second_derivative_of_free_choices(generator):
    """Exactly, where each unit is a sequence of its own and `M` the identity."""
    problem, corpus = random_problem(generator, choice_lattice(4), lengths=[1] * 12)
    parameters = generator.normal(size=n_parameters(problem))
    weights, transitions = problem.weights(parameters)
    binary = np.flatnonzero(corpus.matrix.max(axis=0) == 1)
    assert len(binary)
    curvature = problem.curvature(parameters)
    step, precision = 1e-4, OBJECTIVE.sigma**-2
    for place in product(binary, range(problem.shape[1])):
        values = []
        for move in (-step, 0.0, step):
            moved = weights.copy()
            moved[place] += move
            values.append(problem.value_and_gradient(problem.parameters(moved, transitions))[0])
        second = (values[0] - 2 * values[1] + values[2]) / step**2
        assert curvature[place] == pytest.approx(second - precision, abs=1e-4)


def test_repeated_calls_give_the_same_and_change_nothing(generator):
    problem, _ = random_problem(generator, TagSet("IOB2", LABELS).lattice(True))
    parameters = generator.normal(size=n_parameters(problem))
    before = parameters.copy()
    first = problem.value_and_gradient(parameters)
    second = problem.value_and_gradient(parameters)
    np.testing.assert_array_equal(parameters, before)
    assert first[0] == second[0]
    np.testing.assert_array_equal(first[1], second[1])
    assert first[1] is not second[1]


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
    problem, corpus = random_problem(generator, lattice, lengths=[4, 3, 5, 2, 4])
    explicit = ExplicitModel(corpus)
    n_features = corpus.matrix.shape[1]
    start = np.zeros(n_features * (lattice.n_labels + lattice.n_edges))
    tight = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 2000, "maxfun": 4000}
    expected = minimize(explicit, start, jac=True, method="L-BFGS-B", options=tight)
    found = LBFGS(tolerance=1e-10, threads=1).start(
        problem, np.zeros(n_parameters(problem)), Workers(1)
    )
    assert found.run(500) == pytest.approx(expected.fun, rel=1e-9)
    weights, transitions = problem.weights(found.parameters)
    np.testing.assert_allclose(weights, explicit.edge_weights(expected.x), atol=1e-5)
    # Predictions on other features than those of training.
    unseen = (generator.random((8, n_features)) < 0.5).astype(float)
    explicit_path = decode(lattice, unseen @ explicit.edge_weights(expected.x), transitions)
    np.testing.assert_array_equal(decode(lattice, unseen @ weights, transitions), explicit_path)


def decode(lattice: Lattice, scores: npt.NDArray[np.float64], transitions) -> np.ndarray:
    path = np.empty(len(scores), dtype=np.int32)
    no_cost = observation_costs(np.zeros((lattice.n_labels, lattice.n_labels)))[0]
    unobserved = np.full(len(scores), -1, dtype=np.int32)
    ends = np.array([0, len(scores)], dtype=np.int64)
    viterbi(lattice, scores, transitions, no_cost, unobserved, ends, path, np.empty(1))
    return path


@pytest.mark.parametrize("label_pairs", [False, True])
def test_scaling_does_not_move_the_optimum(label_pairs, generator):
    """Parameters are scaled by how often a feature occurs; the loss of weights is not."""
    problem, corpus = random_problem(generator, TagSet("IOB2", LABELS[:1]).lattice(label_pairs))
    run = LBFGS(tolerance=1e-9, threads=1).start(
        problem, np.zeros(n_parameters(problem)), Workers(1)
    )
    run.run(300)
    weights, transitions = problem.weights(run.parameters)
    best = corpus.value(weights, transitions)
    for _ in range(20):
        nearby = weights + 1e-3 * generator.normal(size=weights.shape)
        assert corpus.value(nearby, transitions) >= best


@dataclass(frozen=True)
class LabelCosts:
    """An objective of one's own: what it costs to say each label where another is right."""

    by_label: tuple[float, ...]
    sigma: float = 1.0

    def costs(self, n_labels: int) -> npt.NDArray[np.float64]:
        costs = np.tile(np.array(self.by_label), (n_labels, 1))
        np.fill_diagonal(costs, 0.0)
        return costs


def test_an_objective_is_one_class(generator):
    objective = LabelCosts((0.1, 2.0, 0.5))
    lattice = TagSet("IOB2", LABELS[:1]).lattice(label_pairs=False)
    problem, corpus = random_problem(generator, lattice, objective)
    run = LBFGS(threads=1).start(problem, np.zeros(n_parameters(problem)), Workers(1))
    before = run.value
    assert run.run(20) < before
    weights, transitions = problem.weights(run.parameters)
    assert run.value == pytest.approx(corpus.value(weights, transitions), rel=1e-9)


def test_no_features_at_all(generator):
    """A model whose features were all too rare still has its transitions."""
    lattice = TagSet("IOB2", LABELS[:1]).lattice(label_pairs=False)
    costs = Likelihood().costs(lattice.n_labels)
    design, corpus = random_corpus(generator, lattice, [3, 2], costs, 1.0, n_features=0)
    problem = problem_of(design, corpus, Likelihood())
    run = LBFGS(threads=1).start(problem, np.zeros(lattice.n_edges), Workers(1))
    before = run.value
    assert run.run(5) < before


def test_kappa_zero_is_the_likelihood(generator):
    lattice = TagSet("BILOU", LABELS).lattice(label_pairs=True)
    costs = Likelihood().costs(lattice.n_labels)
    design, corpus = random_corpus(generator, lattice, LENGTHS, costs, 0.7)
    parameters = generator.normal(size=n_parameters(problem_of(design, corpus, Likelihood(0.7))))
    by_likelihood = problem_of(design, corpus, Likelihood(0.7)).value_and_gradient(parameters)
    by_margin = problem_of(design, corpus, SoftmaxMargin(0.0, 0.7)).value_and_gradient(parameters)
    assert by_likelihood[0] == by_margin[0]
    np.testing.assert_array_equal(by_likelihood[1], by_margin[1])


def test_one_sequence_against_enumeration(generator):
    """The whole way from parameters to the loss, with the slowest twin there is."""
    lattice = TagSet("BILOU", LABELS[:1]).lattice(label_pairs=True)
    problem, corpus = random_problem(generator, lattice, lengths=[4])
    parameters = generator.normal(size=n_parameters(problem))
    weights, transitions = problem.weights(parameters)
    chain = Chain(lattice, corpus.matrix @ weights, transitions, corpus.costs, corpus.tags.tolist())
    expected = chain_loss(chain)[0] + corpus.value(weights, transitions)
    expected -= corpus.loss(corpus.matrix @ weights, transitions)[0]
    assert problem.value_and_gradient(parameters)[0] == pytest.approx(expected, rel=1e-9)
