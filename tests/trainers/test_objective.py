"""Loss and penalty as a function of parameters: value, gradient, optimum, threads."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize

from objectives import central_differences, data_of, objective_of, start
from reference import Chain, Corpus, chain_loss
from spacy_cascade.inference.lattice import Lattice, choice_lattice
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.inference.structure import Potentials, Weights
from spacy_cascade.losses.base import CorpusLoss, LabelledSequences
from spacy_cascade.losses.margin import Likelihood, MarginLoss, SoftmaxMargin
from spacy_cascade.numeric.design import Design
from spacy_cascade.parallel import Workers
from spacy_cascade.penalties.gaussian import CentredGaussian, Gaussian
from spacy_cascade.tools.scale.sharded import FileShards, ShardedLoss
from spacy_cascade.trainers.objective import Objective, Parametrisation
from strategies import LABELS, random_corpus

CHAINS = list(product(("IOB2", "BILOU"), (LABELS[:1], LABELS), (False, True)))
LENGTHS = [3, 1, 0, 4, 2]
LOSS, SIGMA = SoftmaxMargin(kappa=0.8, false_negative_weight=1.5), 0.7


def random_problem(
    generator: np.random.Generator,
    lattice: Lattice,
    lengths: list[int] = LENGTHS,
    loss: MarginLoss = LOSS,
) -> tuple[Objective, Corpus]:
    costs = loss.label_costs(lattice.n_labels)
    design, corpus = random_corpus(generator, lattice, lengths, costs, SIGMA)
    return objective_of(data_of(design, corpus), loss, SIGMA), corpus


@pytest.mark.parametrize(("scheme", "labels", "label_pairs"), CHAINS)
def test_gradient_is_the_slope_of_the_value(scheme, labels, label_pairs, generator):
    problem, _ = random_problem(generator, TagSet(scheme, labels).lattice(label_pairs))
    parameters = generator.normal(size=problem.n_parameters)
    _, gradient = problem.value_and_gradient(parameters)
    np.testing.assert_allclose(
        gradient, central_differences(problem, parameters), rtol=1e-6, atol=1e-8
    )


def test_gradient_of_free_choices(generator):
    problem, _ = random_problem(generator, choice_lattice(4), lengths=[1] * 12)
    parameters = generator.normal(size=problem.n_parameters)
    _, gradient = problem.value_and_gradient(parameters)
    np.testing.assert_allclose(
        gradient, central_differences(problem, parameters), rtol=1e-6, atol=1e-8
    )


@pytest.mark.parametrize(("scheme", "labels", "label_pairs"), CHAINS)
def test_value_is_that_of_the_weights(scheme, labels, label_pairs, generator):
    """The loss of every sequence in log space, and the prior on label and pair weights."""
    problem, corpus = random_problem(generator, TagSet(scheme, labels).lattice(label_pairs))
    parameters = generator.normal(size=problem.n_parameters)
    value, _ = problem.value_and_gradient(parameters)
    assert value == pytest.approx(corpus.value(*problem.weights(parameters)), rel=1e-9)


def test_value_of_free_choices(generator):
    problem, corpus = random_problem(generator, choice_lattice(5), lengths=[1] * 9)
    parameters = generator.normal(size=problem.n_parameters)
    value, _ = problem.value_and_gradient(parameters)
    assert value == pytest.approx(corpus.value(*problem.weights(parameters)), rel=1e-9)


@pytest.mark.parametrize("label_pairs", [False, True])
def test_parameters_and_weights_are_inverse(label_pairs, generator):
    problem, _ = random_problem(generator, TagSet("BILOU", LABELS).lattice(label_pairs))
    parameters = generator.normal(size=problem.n_parameters)
    weights, transitions = problem.weights(parameters)
    np.testing.assert_allclose(
        problem.parameters(Weights(weights, transitions)), parameters, rtol=1e-9
    )
    # Published weights are single precision: they must do as well.
    again = problem.parameters(Weights(weights.astype(np.float32), transitions))
    assert again.dtype == np.float64
    np.testing.assert_allclose(again, parameters, rtol=1e-4, atol=1e-5)


def test_parameters_do_not_share_memory_with_weights(generator):
    problem, _ = random_problem(generator, choice_lattice(3), lengths=[1, 1, 1])
    weights, transitions = problem.weights(np.zeros(problem.n_parameters))
    parameters = problem.parameters(Weights(weights, transitions))
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
        data = LabelledSequences((design,), LinearChain(lattice), tags, starts)
        problem = objective_of(data, LOSS, SIGMA, threads)
        parameters = np.random.default_rng(5).normal(size=problem.n_parameters)
        results.append(problem.value_and_gradient(parameters))
    for value, gradient in results[1:]:
        assert value == results[0][0]
        np.testing.assert_array_equal(gradient, results[0][1])


@pytest.mark.parametrize("n_shards", [1, 2])
def test_the_gradient_may_take_the_place_of_the_weights(n_shards, generator):
    lattice = TagSet("IOB2", LABELS).lattice(label_pairs=False)
    costs = LOSS.label_costs(lattice.n_labels)
    design, corpus = random_corpus(generator, lattice, LENGTHS, costs, SIGMA)
    of_corpus = CorpusLoss(data_of(design, corpus), LOSS, Workers(1))
    loss = of_corpus if n_shards == 1 else sharded_loss([of_corpus.data] * n_shards)
    features = generator.normal(size=(design.unit_features.n_columns, lattice.n_columns))
    transitions = generator.normal(size=lattice.n_edges)
    apart = np.empty_like(features)
    value, of_transitions = loss.value_and_gradient(Weights(features, transitions), apart)
    found = loss.value_and_gradient(Weights(features, transitions), features)
    assert found[0] == value
    np.testing.assert_array_equal(found[1], of_transitions)
    np.testing.assert_array_equal(features, apart)


def wide_design(generator: np.random.Generator, n_units: int) -> Design:
    """A design so large that its work is cut into pieces."""
    from spacy_cascade.numeric.design import BinaryCSR

    def rows(n_rows: int, per_row: int, n_columns: int) -> BinaryCSR:
        starts = np.arange(n_rows + 1, dtype=np.int64) * per_row
        columns = generator.integers(0, n_columns, n_rows * per_row).astype(np.int32)
        return BinaryCSR(starts, columns, n_columns)

    return Design(rows(4000, 4, 3000), rows(n_units, 3, 4000), rows(n_units, 2, 3000))


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
def test_gradient_under_a_centred_prior(label_pairs, generator):
    problem, penalty, _ = centred_problem(generator, TagSet("BILOU", LABELS).lattice(label_pairs))
    parameters = generator.normal(size=problem.n_parameters)
    _, gradient = problem.value_and_gradient(parameters)
    np.testing.assert_allclose(
        gradient, central_differences(problem, parameters), rtol=1e-6, atol=1e-8
    )
    assert not problem.parameters(penalty.centre).any()
    again = problem.parameters(problem.weights(parameters))
    np.testing.assert_allclose(again, parameters, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("label_pairs", [False, True])
def test_optimum_under_a_centred_prior(label_pairs, generator):
    """That of the loss and the formula of `penalties.gaussian`, by SciPy."""
    lattice = TagSet("IOB2", LABELS[:1]).lattice(label_pairs)
    problem, penalty, corpus = centred_problem(generator, lattice)
    inverse = np.linalg.inv(LinearChain(lattice).columns.mixing)
    size = problem.parametrisation.shape[0] * problem.parametrisation.shape[1]

    def value(parameters: npt.NDArray[np.float64]):
        weights = parameters[:size].reshape(problem.parametrisation.shape)
        transitions = penalty.centre.transitions if label_pairs else parameters[size:]
        loss, by_scores, by_transitions = corpus.loss(corpus.matrix @ weights, transitions)
        moved, shifted = (
            (weights - penalty.centre.features) @ inverse,
            transitions - penalty.centre.transitions,
        )
        loss += 0.5 * (penalty.precision * moved**2).sum()
        loss += 0.5 * (penalty.transition_precision * shifted**2).sum()
        gradient = corpus.matrix.T @ by_scores + (penalty.precision * moved) @ inverse.T
        by_transitions = by_transitions + penalty.transition_precision * shifted
        return loss, np.append(gradient.ravel(), [] if label_pairs else by_transitions)

    tight = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 2000, "maxfun": 4000}
    expected = minimize(
        value, np.zeros(problem.n_parameters), jac=True, method="L-BFGS-B", options=tight
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


def test_repeated_calls_give_the_same_and_change_nothing(generator):
    problem, _ = random_problem(generator, TagSet("IOB2", LABELS).lattice(True))
    parameters = generator.normal(size=problem.n_parameters)
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
    zeros = np.zeros(n_features * (lattice.n_labels + lattice.n_edges))
    tight = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 2000, "maxfun": 4000}
    expected = minimize(explicit, zeros, jac=True, method="L-BFGS-B", options=tight)
    found = start(problem, np.zeros(problem.n_parameters), tolerance=1e-10)
    assert found.run(500) == pytest.approx(expected.fun, rel=1e-9)
    weights, transitions = problem.weights(found.parameters)
    np.testing.assert_allclose(weights, explicit.edge_weights(expected.x), atol=1e-5)
    # Predictions on other features than those of training.
    unseen = (generator.random((8, n_features)) < 0.5).astype(float)
    explicit_path = decode(lattice, unseen @ explicit.edge_weights(expected.x), transitions)
    np.testing.assert_array_equal(decode(lattice, unseen @ weights, transitions), explicit_path)


def decode(lattice: Lattice, scores: npt.NDArray[np.float64], transitions) -> np.ndarray:
    ends = np.array([0, len(scores)], dtype=np.int64)
    return LinearChain(lattice).best(Potentials(scores, transitions, ends))[0]


@pytest.mark.parametrize("label_pairs", [False, True])
def test_scaling_does_not_move_the_optimum(label_pairs, generator):
    """Parameters are scaled by how often a feature occurs; the loss of weights is not."""
    problem, corpus = random_problem(generator, TagSet("IOB2", LABELS[:1]).lattice(label_pairs))
    run = start(problem, np.zeros(problem.n_parameters), tolerance=1e-9)
    run.run(300)
    weights, transitions = problem.weights(run.parameters)
    best = corpus.value(weights, transitions)
    for _ in range(20):
        nearby = weights + 1e-3 * generator.normal(size=weights.shape)
        assert corpus.value(nearby, transitions) >= best


@dataclass(frozen=True)
class CostsByLabel(MarginLoss):
    """A loss of one's own: what it costs to say each label where another is right."""

    by_label: tuple[float, ...]

    def label_costs(self, n_labels: int) -> npt.NDArray[np.float64]:
        costs = np.tile(np.array(self.by_label), (n_labels, 1))
        np.fill_diagonal(costs, 0.0)
        return costs


def test_a_loss_with_a_margin_is_one_class(generator):
    loss = CostsByLabel((0.1, 2.0, 0.5))
    lattice = TagSet("IOB2", LABELS[:1]).lattice(label_pairs=False)
    problem, corpus = random_problem(generator, lattice, loss=loss)
    run = start(problem, np.zeros(problem.n_parameters))
    before = run.value
    assert run.run(20) < before
    weights, transitions = problem.weights(run.parameters)
    assert run.value == pytest.approx(corpus.value(weights, transitions), rel=1e-9)


@pytest.mark.parametrize("n_shards", [1, 2, 4])
def test_the_loss_of_a_corpus_is_the_sum_of_those_of_its_shards(n_shards, generator):
    """And so is the optimum, whoever computes them."""
    lattice = TagSet("BILOU", LABELS[:1]).lattice(label_pairs=False)
    costs = LOSS.label_costs(lattice.n_labels)
    lengths = [3, 1, 4, 2, 2, 5, 3, 1]
    design, corpus = random_corpus(generator, lattice, lengths, costs, SIGMA)
    whole = objective_of(data_of(design, corpus), LOSS, SIGMA)
    cuts = np.linspace(0, len(lengths), n_shards + 1).astype(int).tolist()
    shards = [shard_of(design, corpus, first, last) for first, last in pairwise(cuts)]
    parts = whole.parametrisation
    sharded = sharded_loss(shards)
    summed = Objective(
        sharded,
        Parametrisation(sharded, len(corpus.tags), parts.structure, parts.penalty, Workers(1)),
    )
    parameters = generator.normal(size=whole.n_parameters)
    value, gradient = whole.value_and_gradient(parameters)
    found, slope = summed.value_and_gradient(parameters)
    assert found == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(slope, gradient, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        summed.hessian_diagonal(parameters), whole.hessian_diagonal(parameters), rtol=1e-9
    )
    again = summed.value_and_gradient(parameters)
    assert (again[0], again[1].tobytes()) == (found, slope.tobytes())


def sharded_loss(data: list[LabelledSequences]) -> ShardedLoss:
    return ShardedLoss(FileShards(data, LOSS, Workers(1)))


def shard_of(design: Design, corpus: Corpus, first: int, last: int) -> LabelledSequences:
    """Some of the sequences of a corpus."""
    begin, end = int(corpus.starts[first]), int(corpus.starts[last])
    units = np.arange(begin, end)
    part = Design(
        design.lexeme_features, design.unit_lexemes.take(units), design.unit_features.take(units)
    )
    starts = corpus.starts[first : last + 1] - begin
    return LabelledSequences((part,), LinearChain(corpus.lattice), corpus.tags[begin:end], starts)


def test_no_features_at_all(generator):
    """A model whose features were all too rare still has its transitions."""
    lattice = TagSet("IOB2", LABELS[:1]).lattice(label_pairs=False)
    costs = Likelihood().label_costs(lattice.n_labels)
    design, corpus = random_corpus(generator, lattice, [3, 2], costs, 1.0, n_features=0)
    problem = objective_of(data_of(design, corpus), Likelihood())
    run = start(problem, np.zeros(lattice.n_edges))
    before = run.value
    assert run.run(5) < before


def test_kappa_zero_is_the_likelihood(generator):
    lattice = TagSet("BILOU", LABELS).lattice(label_pairs=True)
    costs = Likelihood().label_costs(lattice.n_labels)
    design, corpus = random_corpus(generator, lattice, LENGTHS, costs, 0.7)
    data = data_of(design, corpus)
    parameters = generator.normal(size=objective_of(data, Likelihood(), 0.7).n_parameters)
    by_likelihood = objective_of(data, Likelihood(), 0.7).value_and_gradient(parameters)
    by_margin = objective_of(data, SoftmaxMargin(0.0), 0.7).value_and_gradient(parameters)
    assert by_likelihood[0] == by_margin[0]
    np.testing.assert_array_equal(by_likelihood[1], by_margin[1])


def test_one_sequence_against_enumeration(generator):
    """The whole way from parameters to the loss, with the slowest twin there is."""
    lattice = TagSet("BILOU", LABELS[:1]).lattice(label_pairs=True)
    problem, corpus = random_problem(generator, lattice, lengths=[4])
    parameters = generator.normal(size=problem.n_parameters)
    weights, transitions = problem.weights(parameters)
    chain = Chain(lattice, corpus.matrix @ weights, transitions, corpus.costs, corpus.tags.tolist())
    expected = chain_loss(chain)[0] + corpus.value(weights, transitions)
    expected -= corpus.loss(corpus.matrix @ weights, transitions)[0]
    assert problem.value_and_gradient(parameters)[0] == pytest.approx(expected, rel=1e-9)
