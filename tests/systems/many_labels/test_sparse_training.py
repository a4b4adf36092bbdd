"""Training of the weights that were seen: its optimum, its start, and when it is chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from objectives import data_of, objective_of
from reference import dense_design, design_of
from spacy_cascade.errors import ConfigError
from spacy_cascade.inference.lattice import choice_lattice, free_lattice
from spacy_cascade.inference.linear_chain import FreeChoice, LinearChain
from spacy_cascade.inference.structure import Weights
from spacy_cascade.losses.base import LabelledSequences
from spacy_cascade.losses.margin import SoftmaxMargin
from spacy_cascade.penalties.gaussian import Gaussian
from spacy_cascade.systems.many_labels.trainer import can_be_sparse, trained_places
from spacy_cascade.tools.scale.sharded import Sharded
from spacy_cascade.trainers.base import Fit, Task
from spacy_cascade.trainers.lbfgs import LBFGS, MANY_COLUMNS
from strategies import random_corpus

LOSS, SIGMA = SoftmaxMargin(kappa=0.8), 0.7
SPARSE = LBFGS(iterations=200, tolerance=1e-9, threads=1, sparse=True)


def random_task(
    generator: np.random.Generator, kind: str, n: int = 30, label_pairs: bool = False
) -> Task:
    lattice = choice_lattice(9) if kind == "choices" else free_lattice(4, label_pairs)
    lengths = [1] * n if kind == "choices" else [3, 1, 4] * (n // 8)
    costs = LOSS.label_costs(lattice.n_labels)
    data = data_of(*random_corpus(generator, lattice, lengths, costs, SIGMA))
    if kind == "choices":
        data = LabelledSequences(
            (design_of(data),), FreeChoice(lattice), data.observed, data.starts
        )
    shape = design_of(data).unit_features.n_columns, data.structure.n_columns
    start = Weights(np.zeros(shape), np.zeros(data.structure.n_transitions))
    return Task(data, LOSS, Gaussian(SIGMA).at_zero(shape, len(start.transitions)), start)


def trained(task: Task, settings: LBFGS = SPARSE) -> Fit[Any]:
    fit = settings.begin(task)
    fit.step(task.data)
    return fit


@pytest.mark.parametrize("kind", ["choices", "chains"])
def test_optimum_is_that_of_all_weights_when_the_others_stay_zero(
    generator: np.random.Generator, kind: str
) -> None:
    task = random_task(generator, kind)
    places = trained_places(task.data, task.start)
    shape = task.start.features.shape
    assert 0 < len(places.columns) < shape[0] * shape[1]
    whole = objective_of(task.data, LOSS, task.penalty)
    is_free = np.ones(whole.n_parameters, dtype=np.bool_)
    is_free[: shape[0] * shape[1]] = places.spread(np.ones(len(places.columns))).reshape(-1) > 0

    def restricted(own: np.ndarray) -> tuple[float, np.ndarray]:
        parameters = np.zeros(whole.n_parameters)
        parameters[is_free] = own
        value, gradient = whole.value_and_gradient(parameters)
        return value, gradient[is_free]

    best = minimize(restricted, np.zeros(is_free.sum()), jac=True, options={"maxiter": 2000})
    parameters = np.zeros(whole.n_parameters)
    parameters[is_free] = best.x
    found = trained(task).weights()
    for own, expected in zip(found, whole.weights(parameters), strict=True):
        np.testing.assert_allclose(own, expected, atol=1e-4)
    assert (found.features[places.spread(np.ones(len(places.columns))) == 0] == 0).all()


@pytest.mark.parametrize("kind", ["choices", "chains"])
def test_trained_are_weights_of_what_is_seen_together(
    generator: np.random.Generator, kind: str
) -> None:
    """And those that are not zero; units without a label show nothing."""
    task = random_task(generator, kind)
    lattice, matrix = task.data.structure.lattice, dense_design(design_of(task.data))
    column_of = dict(zip(lattice.target.tolist(), lattice.column.tolist(), strict=True))
    expected = np.zeros(task.start.features.shape, dtype=np.bool_)
    for row, label in zip(matrix, task.data.observed.tolist(), strict=True):
        if label in column_of:
            expected[row > 0, column_of[label]] = True
    assert (task.data.observed < 0).any()
    assert kind == "chains" or (task.data.observed == 0).any()
    for extra in (0.0, 0.5):
        features = np.zeros(expected.shape)
        features[0, -1] = extra
        expected[0, -1] |= extra > 0
        found = trained_places(task.data, task.start._replace(features=features)).spread(1.0)
        np.testing.assert_array_equal(found > 0, expected)


def test_weights_that_are_not_zero_stay_in_training(generator: np.random.Generator) -> None:
    """They are drawn to the centre, as all are in adaptation."""
    task = random_task(generator, "choices")
    is_seen = trained_places(task.data, task.start).spread(1.0) > 0
    features = np.where(is_seen, 0.0, generator.normal(size=is_seen.shape))
    start = task.start._replace(features=features)
    penalty = Gaussian(SIGMA).at_weights(start, None, task.data.structure.columns.of_transition)
    task = replace(task, penalty=penalty, start=start)
    dense = trained(task, replace(SPARSE, sparse=False))
    sparse = trained(task)
    for own, expected in zip(sparse.weights(), dense.weights(), strict=True):
        np.testing.assert_allclose(own, expected, atol=1e-4)
    np.testing.assert_allclose(sparse.hessian_diagonal(), dense.hessian_diagonal(), atol=1e-4)


def test_a_run_goes_on_from_its_state(generator: np.random.Generator) -> None:
    task, settings = random_task(generator, "chains"), replace(SPARSE, iterations=3)
    whole = trained(task, replace(settings, iterations=6))
    first = trained(task, settings)
    second = settings.begin(task)
    second.restore(first.state())
    second.step(task.data)
    for own, expected in zip(second.weights(), whole.weights(), strict=True):
        np.testing.assert_array_equal(own, expected)


@pytest.mark.parametrize(("many", "sparse"), [(MANY_COLUMNS, False), (2, True)])
def test_where_nothing_is_said_the_columns_decide(
    many: int, sparse: bool, generator: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spacy_cascade.trainers.lbfgs.MANY_COLUMNS", many)
    task = random_task(generator, "choices")
    found, expected, other = (
        trained(task, replace(SPARSE, iterations=3, sparse=value)).weights().features
        for value in (None, sparse, not sparse)
    )
    np.testing.assert_array_equal(found, expected)
    assert np.abs(expected - other).max() > 1e-3
    assert LBFGS().may_be_sparse(many)
    assert not LBFGS().may_be_sparse(many - 1)


def test_what_cannot_be_sparse(generator: np.random.Generator) -> None:
    task = random_task(generator, "chains")
    with_pairs = random_task(generator, "chains", label_pairs=True)
    assert can_be_sparse(task, None)

    class OwnChain(LinearChain):
        pass

    own = replace(task.data, structure=OwnChain(task.data.structure.lattice))
    for impossible, reason in [
        (replace(task, data=own), "features of a OwnChain see more than one label"),
        (with_pairs, "features of a LinearChain see more than one label"),
        (replace(task, loss=object()), "the loss object looks at more than the labels"),
        (replace(task, penalty=None), "the penalty NoneType has no 'at_places'"),
    ]:
        assert not can_be_sparse(impossible, None)
        with pytest.raises(ConfigError, match=f"cannot be sparse: {reason}.*sparse = false"):
            can_be_sparse(impossible, True)
    with pytest.raises(ConfigError, match="trains all weights"):
        Sharded(LBFGS(sparse=True))
