"""A start from online weights: the same optimum, sooner; same bits; and where it is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from objectives import data_of, objective_of
from spacy_cascade.errors import ConfigError
from spacy_cascade.inference.lattice import free_lattice
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.inference.structure import Weights
from spacy_cascade.losses.margin import Likelihood, MarginLoss, SoftmaxMargin
from spacy_cascade.penalties.gaussian import Gaussian
from spacy_cascade.systems.higher_order.structure import HigherOrderChain
from spacy_cascade.systems.induction.trainer import Induction
from spacy_cascade.systems.isomeric.trainer import JointLBFGS
from spacy_cascade.trainers.base import Task
from spacy_cascade.trainers.lbfgs import LBFGS
from spacy_cascade.trainers.lbfgs_run import BatchFit
from spacy_cascade.trainers.online_start import online_weights
from spacy_cascade.trainers.passive_aggressive import PassiveAggressive
from strategies import LABELS, random_corpus

LOSS, SIGMA = SoftmaxMargin(kappa=0.8), 0.7
START = PassiveAggressive(passes=3, C=0.1)


def random_task(label_pairs: bool = True, loss: MarginLoss = LOSS) -> Task:
    lattice = TagSet("BILOU", LABELS).lattice(label_pairs)
    costs = loss.label_costs(lattice.n_labels)
    generator = np.random.default_rng(3)
    data = data_of(*random_corpus(generator, lattice, [6, 4, 7, 1] * 6, costs, SIGMA))
    shape = data.design.unit_features.n_columns, data.structure.n_columns
    start = Weights(np.zeros(shape), np.zeros(data.structure.n_transitions))
    return Task(data, loss, Gaussian(SIGMA).at_zero(shape, len(start.transitions)), start)


def begun(task: Task, **settings: Any) -> BatchFit:
    return LBFGS(**{"threads": 1, "iterations": 1, **settings}).begin(task)


@pytest.mark.parametrize("label_pairs", [True, False])
@pytest.mark.parametrize("loss", [LOSS, Likelihood()])
def test_the_optimum_is_that_from_zero(label_pairs: bool, loss: MarginLoss) -> None:
    task, tight = random_task(label_pairs, loss), {"iterations": 400, "tolerance": 1e-9}
    from_zero, started = begun(task, **tight), begun(task, **tight, start=START)
    assert started.step(task.data) == pytest.approx(from_zero.step(task.data), rel=1e-10)
    np.testing.assert_allclose(started.weights().features, from_zero.weights().features, atol=1e-5)


def test_it_begins_with_the_averaged_weights() -> None:
    task = random_task()
    online = online_weights(task, START)
    assert online.features.any()
    np.testing.assert_allclose(begun(task, start=START).weights().features, online.features)


def test_it_is_ahead_of_a_start_from_zero() -> None:
    task = random_task()
    from_zero, started = begun(task, iterations=4), begun(task, iterations=4, start=START)
    assert started.step(task.data) < from_zero.step(task.data)


def test_sparse_training_starts_with_the_weights_that_it_has() -> None:
    task = random_task(label_pairs=False)
    online = online_weights(task, START).features
    found = begun(task, start=START, sparse=True).weights().features
    is_kept = found != 0
    assert 0 < is_kept.sum() < is_kept.size
    np.testing.assert_allclose(found[is_kept], online[is_kept], rtol=1e-6)


def test_what_has_been_learnt_is_the_start_of_adaptation() -> None:
    task = random_task()
    known = replace(task, start=task.start._replace(features=task.start.features + 0.1))
    found = begun(known, start=START).weights().features
    np.testing.assert_allclose(found, known.start.features)


def test_same_bits_for_any_number_of_threads() -> None:
    found = []
    for threads in (1, 2, 3):
        task = random_task()
        fit = begun(task, start=START, threads=threads, iterations=6)
        fit.step(task.data)
        found.append(fit.weights().features.tobytes())
    assert found[1] == found[0] == found[2]


def test_it_goes_on_from_its_state_to_the_last_bit() -> None:
    task = random_task()
    whole, resumed = (begun(task, start=START, iterations=3) for _ in range(2))
    whole.step(task.data)
    resumed.restore({name: np.copy(v) if isinstance(v, np.ndarray) else v
                     for name, v in whole.state().items()})  # fmt: skip
    whole.step(task.data)
    resumed.step(task.data)
    assert resumed.weights().features.tobytes() == whole.weights().features.tobytes()


def test_curvature_is_the_second_derivative_of_single_units() -> None:
    """Where no unit has a feature twice; the diagonal leaves out what sequences tie together."""
    lattice = free_lattice(3, False)
    costs = LOSS.label_costs(lattice.n_labels)
    design, corpus = random_corpus(np.random.default_rng(5), lattice, [1] * 12, costs, SIGMA)
    problem = objective_of(data_of(design, corpus), LOSS, SIGMA)
    parameters = np.random.default_rng(6).normal(size=problem.n_parameters)
    curvature = problem.curvature(parameters)
    n_features, n_columns = problem.parametrisation.shape
    is_single = np.repeat(corpus.matrix.max(axis=0) <= 1, n_columns)
    assert is_single.any()
    for i in np.flatnonzero(is_single):
        step = np.zeros_like(parameters)
        step[i] = 1e-4
        slopes = [problem.value_and_gradient(parameters + s * step)[1][i] for s in (1, -1)]
        assert curvature[i] == pytest.approx((slopes[0] - slopes[1]) / 2e-4, rel=1e-5)
    assert (curvature[n_features * n_columns :] == 1.0).all()


@pytest.mark.parametrize("start", [LBFGS(), "online", 3])
def test_a_start_that_is_no_online_trainer(start: object) -> None:
    with pytest.raises(ConfigError, match=r"\[trainer.start\]"):
        LBFGS(start=start)


def test_where_there_is_no_start() -> None:
    with pytest.raises(ConfigError, match="induction"):
        LBFGS(start=START, induction=Induction())
    with pytest.raises(ConfigError, match="shard_tokens"):
        LBFGS(start=START, shard_tokens=1000)
    with pytest.raises(ConfigError, match="start = null"):
        JointLBFGS(start=START)
    with pytest.raises(ConfigError, match="learn_online"):
        LBFGS(start=START).check(LOSS, Gaussian(), HigherOrderChain)
    LBFGS(start=START).check(LOSS, Gaussian(), LinearChain)
