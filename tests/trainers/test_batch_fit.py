"""Batch training of a corpus, step by step: what a fit gives, goes on from, and gives back."""

from __future__ import annotations

import ctypes
import platform
from typing import Any

import numpy as np
import pytest

from objectives import data_of, objective_of, start
from spacy_cascade.inference.lattice import choice_lattice
from spacy_cascade.inference.structure import Weights
from spacy_cascade.losses.margin import SoftmaxMargin
from spacy_cascade.penalties.gaussian import CentredGaussian
from spacy_cascade.trainers import lbfgs_run
from spacy_cascade.trainers.base import Task
from spacy_cascade.trainers.lbfgs import LBFGS
from strategies import random_corpus

LOSS = SoftmaxMargin(0.5)
SETTINGS = LBFGS(iterations=2, threads=1, tolerance=0.0)


@pytest.fixture
def task(generator: np.random.Generator) -> Task:
    lattice = choice_lattice(4)
    costs = LOSS.label_costs(lattice.n_labels)
    data = data_of(*random_corpus(generator, lattice, [1] * 20, costs, 1.0))
    shape, n = (data.encoded[0].rows.stop, data.structure.n_columns), data.structure.n_transitions
    begin, centre = (Weights(generator.normal(size=shape), np.zeros(n)) for _ in range(2))
    precisions = (generator.uniform(1.0, 3.0, size) for size in (shape, n))
    return Task(data, LOSS, CentredGaussian(centre, *precisions, 1.0), begin)


def test_a_fit_is_a_run_of_the_objective(task: Task) -> None:
    fit, told = SETTINGS.begin(task), []
    for found, wanted in zip(fit.weights(), task.start, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-12)
    objective = objective_of(task.data, LOSS, task.penalty)
    run = start(objective, objective.parameters(task.start), tolerance=0.0)
    assert fit.step(task.data, lambda: told.append(1)) == run.run(2)
    assert len(told) == 2
    for found, wanted in zip(fit.weights(), objective.weights(run.parameters), strict=True):
        np.testing.assert_array_equal(found, wanted)
    curvature = objective.hessian_diagonal(run.parameters)
    np.testing.assert_array_equal(fit.hessian_diagonal(), curvature)
    later = SETTINGS.begin(task)
    later.restore(fit.state())
    assert later.step(task.data) == run.run(2)


@pytest.mark.parametrize(
    ("sparse", "n_columns", "may_be"),
    [(None, 127, False), (None, 128, True), (True, 2, True), (False, 500, False)],
)
def test_many_columns_or_the_setting_make_training_sparse(
    sparse: bool | None, n_columns: int, may_be: bool
) -> None:
    assert LBFGS(sparse=sparse).may_be_sparse(n_columns) is may_be


def test_what_the_last_step_has_freed_is_given_back(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it, before each step."""
    kept: list[int] = []
    monkeypatch.setattr(lbfgs_run, "_trim", lambda: kept.append)
    fit = SETTINGS.begin(task)
    for n in range(3):
        assert kept == n * [0]
        fit.step(task.data)
    monkeypatch.setattr(lbfgs_run, "_trim", lambda: None)
    fit.step(task.data)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_glibc_gives_memory_back() -> None:
    trim = lbfgs_run._trim()
    assert trim is not None
    assert trim(0) in (0, 1)


@pytest.mark.parametrize("error", [OSError, AttributeError, TypeError])
def test_other_libraries_need_not_give_anything_back(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: Any) -> Any:
        raise error

    monkeypatch.setattr(ctypes, "CDLL", refuse)
    assert lbfgs_run._trim.__wrapped__() is None
