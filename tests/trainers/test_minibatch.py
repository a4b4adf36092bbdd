"""Training by gradient: a plain twin, the optimum of L-BFGS, and what is left out."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from objectives import data_of, objective_of
from objectives import start as begin
from reference import dense_design
from spacy_cascade.errors import ConfigError
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.inference.structure import Weights
from spacy_cascade.losses.base import CorpusLoss, LabelledSequences
from spacy_cascade.losses.margin import Hinge, Likelihood, SoftmaxMargin
from spacy_cascade.numeric.csr import BinaryCSR
from spacy_cascade.numeric.dense import DenseRows, TokenVectors
from spacy_cascade.numeric.design import Design
from spacy_cascade.parallel import Workers
from spacy_cascade.penalties.gaussian import CentredGaussian, Gaussian
from spacy_cascade.trainers.base import Room, Shape, TaskOn, trains_encoders
from spacy_cascade.trainers.lbfgs import LBFGS
from spacy_cascade.trainers.minibatch import Minibatch, MinibatchFit, of_used_rows
from strategies import LABELS, random_corpus

N_FEATURES, WIDTH, SIGMA = 8, 3, 2.0
LOSS = SoftmaxMargin(0.5)


def problem(
    generator: np.random.Generator, with_vectors: bool = True, label_pairs: bool = True
) -> LabelledSequences:
    """A chain whose units have listed features, and vectors beside them."""
    lattice = TagSet("IOB2", LABELS).lattice(label_pairs)
    costs = LOSS.label_costs(lattice.n_labels)
    design, corpus = random_corpus(
        generator, lattice, [6, 4, 7, 5], costs, 1.5, n_features=N_FEATURES
    )
    data = data_of(design, corpus)
    if not with_vectors:
        return data
    values = generator.normal(size=(design.n_scored, WIDTH)).astype(np.float32)
    dense = DenseRows.of(TokenVectors(values), design.rows.stop)
    return replace(data, encoded=(design, dense))


def shape_of(data: LabelledSequences) -> tuple[int, int]:
    return max(each.rows.stop for each in data.encoded), data.structure.n_columns


def begun(
    data: LabelledSequences,
    sigma: float | None = SIGMA,
    known: np.ndarray | None = None,
    **settings: Any,
) -> MinibatchFit:
    shape, n_transitions = shape_of(data), data.structure.n_transitions
    start = Weights(np.zeros(shape), np.zeros(n_transitions))
    penalty = None if sigma is None else Gaussian(sigma).at_zero(shape, n_transitions)
    return Minibatch(**settings).begin(TaskOn(data, LOSS, penalty, start, known))


def drawn(data: LabelledSequences, share: float, generator: np.random.Generator) -> np.ndarray:
    """All features and vectors, some left out, for which the others count more."""
    design, dense = data.encoded
    of_lexemes, of_units = design.lexeme_features, design.unit_features
    if share:
        of_lexemes, of_units = (
            part.without(generator.random(len(part.indices)) < share)
            for part in (of_lexemes, of_units)
        )
    features = dense_design(Design(of_lexemes, design.unit_lexemes, of_units)) / (1.0 - share)
    kept = np.ones(dense.values.shape)
    if data.drop:
        kept = generator.random(kept.shape) >= data.drop
    return np.hstack([features, dense.values * kept / kept.mean()])


def twin(
    data: LabelledSequences, n_steps: int, settings: Minibatch, penalty: Any, start: Weights
) -> tuple[list[float], Weights]:
    """The losses and the weights, on whole matrices, with every feature written out."""
    mixing, structure = data.structure.columns.mixing, data.structure
    z = (start.features - penalty.centre.features) @ np.linalg.inv(mixing)
    moves = start.transitions - penalty.centre.transitions
    precision = penalty.precision * data.share
    squares, of_moves = np.zeros(z.shape), np.zeros(moves.shape)
    mean, second = np.zeros((WIDTH, z.shape[1])), np.zeros((WIDTH, z.shape[1]))
    free = structure.columns.free
    loss, values = CorpusLoss(data, LOSS, Workers(1)), []
    generator = np.random.default_rng(settings.seed)

    def weights() -> Weights:
        centre = penalty.centre
        return Weights(centre.features + z @ mixing, centre.transitions + moves)

    for i in range(n_steps):
        factor = max(1.0 - i / settings.steps, 0.0) if settings.steps else 1.0
        matrix = drawn(data, settings.feature_drop or 0.0, generator)
        potentials = loss.potentials(weights())
        potentials.scores[:] = matrix @ weights().features
        losses, of_transitions = loss.losses(potentials)
        values.append(losses.sum())
        gradient = (matrix.T @ potentials.scores) @ mixing
        squares += gradient**2
        rates = factor * settings.rate / (np.sqrt(squares) + 1e-8)
        moved = (z - rates * gradient) / (1.0 + rates * precision)
        mean = 0.9 * mean + 0.1 * gradient[-WIDTH:]
        second = 0.999 * second + 0.001 * gradient[-WIDTH:] ** 2
        corrected = mean / (1 - 0.9 ** (i + 1)), second / (1 - 0.999 ** (i + 1))
        of_vectors = factor * settings.dense_rate / (np.sqrt(corrected[1]) + 1e-8)
        held = 1.0 + of_vectors * precision[-WIDTH:]
        moved[-WIDTH:] = (z[-WIDTH:] - of_vectors * corrected[0]) / held
        z = moved
        of_moves[free] += of_transitions[free] ** 2
        rates = factor * settings.rate / (np.sqrt(of_moves[free]) + 1e-8)
        moved = moves[free] - rates * of_transitions[free]
        held_moves = rates * data.share * penalty.transition_precision[free]
        moves[free] = moved / (1.0 + held_moves)
    return values, weights()


@pytest.mark.parametrize("label_pairs", [True, False])
@pytest.mark.parametrize(
    ("steps", "share", "drop"), [(0, 0.0, 0.0), (7, 0.4, 0.0), (3, 0.0, 0.3), (0, 0.3, 0.4)]
)
def test_steps_are_those_of_a_plain_twin(
    generator: np.random.Generator, label_pairs: bool, steps: int, share: float, drop: float
) -> None:
    """Whatever is left out, from any weights, under a penalty with a centre of its own."""
    data = replace(problem(generator, label_pairs=label_pairs), share=0.25, drop=drop)
    shape, n_transitions = shape_of(data), data.structure.n_transitions
    start, centre = (
        Weights(generator.normal(size=shape), generator.normal(size=n_transitions))
        for _ in range(2)
    )
    precisions = (generator.uniform(0.5, 3.0, size) for size in (shape, n_transitions))
    penalty = CentredGaussian(centre, *precisions, SIGMA)
    if label_pairs:
        start = start._replace(transitions=centre.transitions)
    settings = Minibatch(rate=0.3, dense_rate=0.05, steps=steps, feature_drop=share, seed=3)
    fit = settings.begin(TaskOn(data, LOSS, penalty, start))
    for found, wanted in zip(fit.weights(), start, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-12)
    losses = [fit.step(data) for _ in range(5)]
    values, expected = twin(data, 5, settings, penalty, start)
    np.testing.assert_allclose(losses, values, rtol=1e-9)
    for found, wanted in zip(fit.weights(), expected, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-8)


def test_it_comes_to_the_optimum_of_a_batch_trainer(generator: np.random.Generator) -> None:
    data = problem(generator, with_vectors=False)
    objective = objective_of(data, LOSS, SIGMA)
    optimum = begin(objective, np.zeros(objective.n_parameters), tolerance=1e-9)
    best = optimum.run(500)
    fit = begun(data, rate=0.5, steps=800)
    for _ in range(800):
        fit.step(data)
    value, _ = objective.value_and_gradient(objective.parameters(fit.weights()))
    assert best <= value <= best * 1.001


def test_rows_that_a_batch_uses_score_as_all_rows(generator: np.random.Generator) -> None:
    data = problem(generator)
    rows, encoded = of_used_rows(data.encoded)
    n_rows = data.encoded[-1].rows.stop
    weights = generator.normal(size=(n_rows, data.structure.n_columns))
    workers = Workers(1)
    for whole, alone in zip(data.encoded, encoded, strict=True):
        expected, found = (np.zeros((whole.n_scored, weights.shape[1])) for _ in range(2))
        whole.add_scores(weights[whole.rows], expected, workers)
        alone.add_scores(weights[rows][alone.rows], found, workers)
        np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_array_equal(rows, np.unique(rows))


def test_rows_that_no_batch_uses_stay(generator: np.random.Generator) -> None:
    data = problem(generator)
    design, dense = data.encoded
    matrix = dense_design(design)
    unused = np.flatnonzero(~matrix.any(axis=0))
    more = replace(data, encoded=(wider(design, 3), replace(dense, first=N_FEATURES + 3)))
    fit = begun(more)
    for _ in range(3):
        fit.step(more)
    weights = fit.weights().features
    np.testing.assert_array_equal(weights[N_FEATURES : N_FEATURES + 3], 0.0)
    np.testing.assert_array_equal(weights[unused], 0.0)


def wider(design: Any, n: int) -> Any:
    """A design with features that no unit has."""

    def more(rows: BinaryCSR) -> BinaryCSR:
        return BinaryCSR(rows.indptr, rows.indices, rows.n_columns + n)

    return Design(more(design.lexeme_features), design.unit_lexemes, more(design.unit_features))


def test_the_penalty_of_a_row_waits_for_its_next_batch(generator: np.random.Generator) -> None:
    """What was left undone meanwhile is done when it is used, or asked for."""
    data = problem(generator, with_vectors=False)
    fit = begun(data, sigma=0.3)
    fit.step(data)
    before = fit._deviation.copy()
    fit._passed += 4 * data.share  # as if four batches without its features had come
    rates = 0.1 / (np.sqrt(fit._squares) + 1e-8)
    expected = before / (1.0 + rates * 4 * data.share / 0.3**2)
    found = fit.weights().features
    np.testing.assert_allclose(found, expected @ data.structure.columns.mixing, atol=1e-12)
    np.testing.assert_array_equal(fit.weights().features, found)


def test_features_that_are_left_out_are_drawn_anew(generator: np.random.Generator) -> None:
    data = problem(generator)
    one, again, none = (
        begun(data, feature_drop=drop, seed=seed) for drop, seed in ((0.5, 1), (0.5, 1), (0.0, 1))
    )
    losses = [[fit.step(data) for _ in range(4)] for fit in (one, again, none)]
    assert losses[0] == losses[1]
    assert losses[0][1:] != losses[2][1:]
    np.testing.assert_array_equal(one.weights().features, again.weights().features)


def test_what_the_loop_leaves_out_counts_where_nothing_is_set(
    generator: np.random.Generator,
) -> None:
    data = problem(generator, with_vectors=False)
    told, asked = begun(data, feature_drop=0.5), begun(data)
    for _ in range(3):
        told.step(data)
        asked.step(replace(data, drop=0.5))
    np.testing.assert_array_equal(told.weights().features, asked.weights().features)


def test_an_encoder_gets_its_gradient(generator: np.random.Generator) -> None:
    data = problem(generator)
    fit = begun(data)
    fit.step(data)
    fit.step(data)
    assert np.abs(data.encoded[1].token_slopes()).max() > 1e-4


@pytest.mark.parametrize("n_steps", [0, 3])
def test_it_goes_on_from_a_state(generator: np.random.Generator, n_steps: int) -> None:
    data = problem(generator, with_vectors=False)
    fit, other = begun(data, feature_drop=0.3), begun(data, feature_drop=0.3)
    for _ in range(n_steps):
        fit.step(data)
    state = fit.state()
    kept = {
        name: value.copy() if isinstance(value, np.ndarray) else json.loads(json.dumps(value))
        for name, value in state.items()
    }
    other.restore(kept)
    assert fit.step(data) == other.step(data)
    for one, two in zip(fit.weights(), other.weights(), strict=True):
        np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(fit.hessian_diagonal(), other.hessian_diagonal())


@pytest.mark.parametrize("name", ["deviation", "squares", "last", "curvature"])
def test_arrays_of_another_state_are_refused(generator: np.random.Generator, name: str) -> None:
    fit = begun(problem(generator, with_vectors=False))
    state = fit.state()
    for wrong in (np.zeros((1, 1)), np.full(state[name].shape, np.nan)):
        with pytest.raises(ValueError, match="an array"):
            fit.restore({**state, name: wrong})


@pytest.mark.parametrize("name", ["passed", "n_steps", "generator"])
@pytest.mark.parametrize("wrong", ["text", float("nan"), -1, None])
def test_numbers_of_another_state_are_refused(
    generator: np.random.Generator, name: str, wrong: Any
) -> None:
    fit = begun(problem(generator, with_vectors=False))
    with pytest.raises(ValueError, match=r"(is|are) needed"):
        fit.restore({**fit.state(), name: wrong})


def test_the_curvature_is_that_of_a_pass_and_of_earlier_data(
    generator: np.random.Generator,
) -> None:
    """At weights of zero: each step is too small to leave them."""
    data = replace(problem(generator), share=0.5)
    known = generator.uniform(size=shape_of(data))
    zeros = Weights(np.zeros(known.shape), np.zeros(data.structure.n_transitions))
    expected = 2.0 * CorpusLoss(data, LOSS, Workers(1)).hessian_diagonal(zeros)
    fit, later = (begun(data, known=k, rate=1e-12, dense_rate=1e-12) for k in (None, known))
    without = begun(data, sigma=None, known=known)
    assert fit.hessian_diagonal() is None
    assert later.hessian_diagonal() is known
    for each in (fit, later, without):
        for _ in range(3):
            each.step(data)
    np.testing.assert_allclose(fit.hessian_diagonal(), expected, atol=1e-9)
    np.testing.assert_allclose(later.hessian_diagonal(), known + expected, atol=1e-9)
    assert without.hessian_diagonal() is known


@pytest.mark.parametrize(
    "wrong",
    [{"rate": 0.0}, {"dense_rate": -1.0}, {"steps": -1}, {"feature_drop": 1.0}, {"seed": -1}],
)
def test_settings_out_of_range(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Minibatch(**wrong)


def test_what_it_trains() -> None:
    Minibatch().check(Likelihood(), None, LinearChain)
    Minibatch().check(Likelihood(), Gaussian(), LinearChain)
    with pytest.raises(ConfigError, match="Minibatch"):
        Minibatch().check(Hinge(), None, LinearChain)
    assert trains_encoders(Minibatch())
    assert not trains_encoders(LBFGS())
    assert Minibatch().room(Shape(10, 3)) == Room(10 * 3 * 28, 0)
