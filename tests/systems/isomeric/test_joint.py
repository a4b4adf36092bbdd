"""Fits of two chains: what a step moves, what each keeps, and that they go on."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from objectives import data_of, objective_of
from reference import Corpus, design_of
from spacy_cascade.errors import ConfigError, TrainingError
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.inference.structure import Structure, Weights
from spacy_cascade.losses.margin import Hinge, Likelihood, SoftmaxMargin
from spacy_cascade.penalties.gaussian import Gaussian
from spacy_cascade.systems.isomeric.trainer import (
    JointFit,
    JointLBFGS,
    JointlyFitted,
    TrainedJointly,
)
from spacy_cascade.trainers.base import Fit, Task
from spacy_cascade.trainers.lbfgs import LBFGS
from strategies import LABELS, random_corpus

SETTINGS: dict[str, Any] = {"iterations": 3, "threads": 1, "tolerance": 0.0}


def chain_task(generator: np.random.Generator, scheme: str, labels: tuple[str, ...]) -> Task:
    lattice = TagSet(scheme, labels).lattice(label_pairs=False)
    no_cost = np.zeros((lattice.n_labels, lattice.n_labels))
    corpus: tuple[Any, Corpus] = random_corpus(
        generator, lattice, [3, 1, 2, 4], no_cost, 1.0, missing=0.0
    )
    data = data_of(*corpus)
    shape = design_of(data).unit_features.n_columns, data.structure.n_columns
    start = Weights(0.1 * generator.normal(size=shape), np.zeros(data.structure.n_transitions))
    penalty = Gaussian(0.8).at_zero(shape, data.structure.n_transitions)
    return Task(data, Likelihood(), penalty, start)


@pytest.fixture
def tasks(generator: np.random.Generator) -> tuple[Task, Task]:
    return chain_task(generator, "BILOU", LABELS[:1]), chain_task(generator, "IOB2", LABELS)


class Pair:
    """Two tasks as sources that know each other."""

    def __init__(self, first: Task, second: Task) -> None:
        self.first, self.task = first, second.task
        self.asked: list[str] = []
        self.joined: Any = None

    def extended(self, kind: object) -> Any:
        return self

    def partner(self, name: str) -> Any:
        self.asked.append(name)
        return SimpleNamespace(task=self.first.task, join=self.join)

    def join(self, fit: JointlyFitted) -> None:
        self.joined = fit


def begun(tasks: tuple[Task, Task], **settings: Any) -> tuple[JointlyFitted, JointFit]:
    pair = Pair(*tasks)
    trainer = JointLBFGS(**{**SETTINGS, **settings})
    fit = trainer.begin(pair)  # type: ignore[arg-type]
    assert pair.asked == [trainer.first]
    return pair.joined, fit


def marks(fits: tuple[Fit[Any], ...]) -> list[bool]:
    """Whether the components have older weights, or another Hessian, than the fits."""
    return [mark for fit in fits for mark in (fit.weights_are_stale, fit.hessian_is_stale)]


def arrays(fits: tuple[Fit[Any], ...]) -> list[bytes]:
    return [np.asarray(array).tobytes() for fit in fits for array in fit.weights()]


def test_steps_of_the_second_are_steps_of_both(tasks: tuple[Task, Task]) -> None:
    """They begin at the weights of their tasks."""
    fits = begun(tasks, C=0.3)
    first, second = fits
    for fit, task in zip(fits, tasks, strict=True):
        for found, expected in zip(fit.weights(), task.start, strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-12)
    before = arrays(fits)
    assert first.step(tasks[0].data) == 0.0
    assert arrays(fits) == before
    assert marks(fits) == [True, True, False, False]
    first.weights_are_stale = first.hessian_is_stale = False
    losses = [second.step(tasks[1].data) for _ in range(3)]
    assert losses == sorted(losses, reverse=True)
    assert not set(arrays(fits)) & set(before)
    assert marks(fits) == [True] * 4


def test_without_strength_they_get_to_where_each_gets_alone(tasks: tuple[Task, Task]) -> None:
    settings = {**SETTINGS, "iterations": 200, "tolerance": 1e-8}
    fits = begun(tasks, **settings)
    loss = fits[1].step(tasks[1].data)
    losses = []
    for task, fit in zip(tasks, fits, strict=True):
        alone = LBFGS(**settings).begin(task)
        losses.append(alone.step(task.data))
        for found, expected in zip(fit.weights(), alone.weights(), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-5)
        whole = objective_of(task.data, task.loss, task.penalty)
        curvature = whole.hessian_diagonal(whole.parameters(fit.weights()))
        np.testing.assert_allclose(fit.hessian_diagonal(), curvature, atol=1e-9)
    assert loss == pytest.approx(sum(losses), rel=1e-9)


def test_terms_are_those_of_the_last_step(tasks: tuple[Task, Task]) -> None:
    """Of likelihoods the loss has the negative ones, and the penalties."""
    first, second = fits = begun(tasks, C=0.3, first="chunks")
    loss = second.step(tasks[1].data)
    terms = second.terms()
    assert list(terms) == ["log-likelihood of chunks", "of its own", "penalty", "mean |D|"]
    assert first.terms() == {}
    one, two, constraint, distance = terms.values()
    assert max(one, two) < 0.0 < min(constraint, distance)
    widths = [
        0.5 * float((np.asarray(array, float) ** 2).sum()) / 0.8**2
        for fit in fits
        for array in fit.weights()
    ]
    assert loss >= constraint - one - two > 0.0
    assert loss == pytest.approx(constraint - one - two + sum(widths), rel=1e-9)


def test_they_go_on_from_their_states(tasks: tuple[Task, Task]) -> None:
    whole, stopped, resumed = (begun(tasks, C=0.3) for _ in range(3))
    for _ in range(2):
        whole[1].step(tasks[1].data)
    stopped[1].step(tasks[1].data)
    assert stopped[0].state() == {}
    for fit, other in zip(resumed, stopped, strict=True):
        fit.restore(other.state())
    assert marks(resumed) == [True] * 4
    assert arrays(resumed) == arrays(stopped)
    resumed[1].step(tasks[1].data)
    assert arrays(resumed) == arrays(whole)
    with pytest.raises(ValueError, match="a state where JointlyFitted has none"):
        resumed[0].restore({"iteration": 1})
    # The first goes stale with the second, also where only that is restored.
    fits = begun(tasks)
    fits[1].restore(stopped[1].state())
    assert marks(fits) == [True] * 4


@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf])
def test_the_strength_is_a_finite_number_of_zero_or_more(value: float) -> None:
    with pytest.raises(ConfigError, match=r"finite C of 0 or more.*\[trainer\]"):
        JointLBFGS(C=value)


@pytest.mark.parametrize("trainer", [JointLBFGS(), TrainedJointly()])
def test_joint_training_is_by_likelihood_with_a_penalty(trainer: Any) -> None:
    trainer.check(SoftmaxMargin(kappa=0.0), Gaussian(), LinearChain)
    for loss, penalty in (
        (SoftmaxMargin(), Gaussian()), (Hinge(), Gaussian()), (Likelihood(), None),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match="trains by likelihood and cannot use"):
            trainer.check(loss, penalty, LinearChain)
    with pytest.raises(ConfigError, match="which Structure does not offer"):
        trainer.check(Likelihood(), Gaussian(), Structure)


def test_the_first_has_no_training_of_its_own(tasks: tuple[Task, Task]) -> None:
    trainer = TrainedJointly()
    assert (trainer.iterations, trainer.sees_all) == (0, True)
    with pytest.raises(TrainingError, match=r"trained by a later one.*JointLBFGS"):
        trainer.begin(tasks[0])
