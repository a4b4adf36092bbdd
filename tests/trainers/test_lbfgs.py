"""L-BFGS: where SciPy's gets to, in as many steps as one likes, and when it stops."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

from objectives import data_of, objective_of
from objectives import start as begin
from spacy_cascade.errors import ConfigError, TrainingError
from spacy_cascade.inference.schemes import TagSet
from spacy_cascade.losses.margin import SoftmaxMargin
from spacy_cascade.trainers.batchers import make_whole_corpus_batcher
from spacy_cascade.trainers.lbfgs import LBFGS
from spacy_cascade.trainers.lbfgs_run import LBFGSRun
from spacy_cascade.trainers.objective import Objective
from strategies import LABELS, random_corpus


class Function:
    """A problem from a value and a gradient, which counts its calls."""

    def __init__(self, value, gradient):
        self.value, self.gradient, self.calls = value, gradient, 0

    def value_and_gradient(self, parameters):
        self.calls += 1
        return float(self.value(parameters)), np.asarray(self.gradient(parameters), dtype=float)


def rosenbrock() -> Function:
    return Function(rosen, rosen_der)


def quadratic() -> Function:
    curvature = np.array([1.0, 10.0, 100.0])
    return Function(lambda x: 0.5 * (curvature * x * x).sum(), lambda x: curvature * x)


def chain_problem(generator: np.random.Generator, threads: int = 1) -> tuple[Objective, int]:
    lattice = TagSet("IOB2", LABELS).lattice(label_pairs=True)
    loss = SoftmaxMargin(kappa=0.5)
    costs = loss.label_costs(lattice.n_labels)
    design, corpus = random_corpus(generator, lattice, [6, 4, 7, 5] * 3, costs, 1.5, n_features=8)
    problem = objective_of(data_of(design, corpus), loss, 1.5, threads)
    return problem, problem.n_parameters


def start(problem, parameters, **settings) -> LBFGSRun:
    return begin(problem, np.asarray(parameters, dtype=float), **settings)


def test_chain_problem_has_the_optimum_that_scipy_finds(generator):
    problem, size = chain_problem(generator)
    tight = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 2000, "maxfun": 4000}
    expected = minimize(
        problem.value_and_gradient, np.zeros(size), jac=True, method="L-BFGS-B", options=tight
    )
    run = start(problem, np.zeros(size), tolerance=1e-9)
    assert run.run(500) == pytest.approx(expected.fun, rel=1e-10)
    assert run.converged
    np.testing.assert_allclose(run.parameters, expected.x, atol=1e-5)


@pytest.mark.parametrize(("n", "history"), [(2, 1), (2, 6), (10, 6), (10, 20)])
def test_a_bent_valley(n, history):
    """It needs no more calls than SciPy by much, and the tolerance decides how far it goes."""
    function, begin = rosenbrock(), np.full(n, -1.2)
    run = start(function, begin, history=history, tolerance=1e-8)
    run.run(2000)
    assert run.converged
    reached = minimize(rosen, begin, jac=rosen_der, method="L-BFGS-B", tol=1e-12)
    assert run.value <= reached.fun + 1e-9
    assert history == 1 or function.calls <= 2 * reached.nfev
    loose = start(rosenbrock(), begin, history=history, tolerance=1e-1)
    loose.run(2000)
    assert loose.converged
    assert loose.iteration < run.iteration


def test_every_step_goes_down_and_stopping_changes_nothing(generator):
    problem, size = chain_problem(generator)
    whole, pieces = start(problem, np.zeros(size)), start(problem, np.zeros(size))
    value, values = whole.run(7), [pieces.value]
    np.testing.assert_array_equal(pieces.parameters, np.zeros(size))
    for n in (1, 1, 1, 4):
        values.append(pieces.run(n))
        assert pieces.value == problem.value_and_gradient(pieces.parameters)[0]
    assert values == sorted(values, reverse=True)
    assert values[-1] == value
    assert pieces.iteration == whole.iteration == 7
    np.testing.assert_array_equal(pieces.parameters, whole.parameters)


def test_a_converged_run_makes_no_more_steps():
    """It tells of each, and leaves the array alone that it started from."""
    function, seen, begin = quadratic(), [], np.array([3.0, -2.0, 1.0])
    run = start(function, begin, tolerance=1e-8)
    run.run(100, lambda: seen.append(run.iteration))
    np.testing.assert_array_equal(begin, [3.0, -2.0, 1.0])
    assert run.converged
    assert seen == list(range(1, run.iteration + 1))
    calls, iteration, value = function.calls, run.iteration, run.value
    assert run.run(10) == value
    assert (function.calls, run.iteration) == (calls, iteration)
    assert iteration < 100


@pytest.mark.parametrize("n", [0, 3])
def test_a_start_at_the_optimum_is_converged_at_once(n):
    """So is one without parameters."""
    run = start(Function(lambda x: 1.0 + x @ x, lambda x: x), np.zeros(n), tolerance=0.0)
    assert run.converged
    assert run.run(5) == 1.0
    assert run.iteration == 0


def test_same_bits_for_any_number_of_threads():
    found = []
    for threads in (1, 2, 3):
        problem, size = chain_problem(np.random.default_rng(4), threads)
        run = begin(problem, np.zeros(size), threads=threads)
        run.run(6)
        found.append(run.parameters)
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])


def test_without_tolerance_it_stops_when_no_step_helps():
    run = start(rosenbrock(), [3.0, -2.0, 1.0], tolerance=0.0)
    run.run(500)
    assert run.converged
    assert run.value == pytest.approx(0.0, abs=1e-20)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_an_objective_that_starts_without_a_number(value):
    with pytest.raises(TrainingError, match=r"starts at .*\[loss\]"):
        start(Function(lambda _: value, lambda x: x), np.ones(2))


def test_a_gap_in_the_objective_is_stepped_around():
    """Where a step leads out of the domain, a shorter one is tried."""
    bounded = Function(
        lambda x: x[0] - math.log(x[0]) if x[0] > 0 else math.nan, lambda x: 1.0 - 1.0 / x
    )
    run = start(bounded, [20.0], tolerance=1e-8)
    run.run(100)
    assert run.parameters[0] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("factor", [1.0, 1e30, 1e45, 1e150])
def test_gradients_too_large_for_single_precision(factor):
    """Directions are remembered in single precision; they get shorter where that is too little."""
    plain = quadratic()
    scaled = Function(lambda x: factor * plain.value(x), lambda x: factor * plain.gradient(x))
    run = start(scaled, [3.0, -2.0, 1.0], tolerance=0.0)
    before = run.value
    run.run(200)
    assert np.isfinite(run.parameters).all()
    assert run.value < 1e-3 * before


@pytest.mark.parametrize("factor", [1.0, 1e150, 1e200])
@pytest.mark.parametrize("signs", [(1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)])
def test_a_steep_first_move_is_as_long_as_one(factor, signs):
    gradient, asked = np.multiply(signs, [3.0, 4.0]), []
    steep = Function(
        lambda x: factor * (gradient @ x), lambda x: asked.append(x) or factor * gradient
    )
    start(steep, np.zeros(2)).run(1)
    np.testing.assert_allclose(asked[1], -gradient / 5.0, rtol=1e-6)


@pytest.mark.parametrize("history", [1, 3])
def test_directions_are_those_of_the_remembered_pairs(history):
    """The inverse of the curvature, written out as a matrix."""
    asked, curvature = [], np.array([1.0, 3.0, 10.0, 50.0])
    bowl = Function(
        lambda x: 0.5 * (curvature * x * x).sum(), lambda x: asked.append(x) or curvature * x
    )
    run = start(bowl, [3.0, -2.0, 1.0, 2.0], history=history, tolerance=0.0)
    run.run(5)
    state, n = run.state(), len(asked)
    assert len(state["curvatures"]) == history
    pairs = [(state[f"move {i}"], state[f"change {i}"]) for i in range(history)]
    move, change = (each.astype(float) for each in pairs[-1])
    inverse = (move @ change) / (change @ change) * np.eye(4)
    for move, change in ((s.astype(float), y.astype(float)) for s, y in pairs):
        turned = np.eye(4) - np.outer(move, change) / (move @ change)
        inverse = turned @ inverse @ turned.T + np.outer(move, move) / (move @ change)
    before, gradient = state["parameters"].copy(), state["gradient"].copy()
    run.run(1)
    np.testing.assert_allclose(asked[n] - before, -inverse @ gradient, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize(("curvature", "n_pairs"), [(0.7e12, 1), (1.5e12, 0)])
def test_a_change_that_is_huge_beside_its_move_is_not_remembered(curvature, n_pairs):
    steep = Function(
        lambda x: 0.5 * curvature * (x @ x - 2 * x[0] + 1), lambda x: curvature * (x - 1.0)
    )
    run = start(steep, np.zeros(1), tolerance=0.0)
    run.run(1)
    assert len(run.state()["curvatures"]) == n_pairs


def test_it_goes_on_in_double_precision():
    assert begin(quadratic(), np.ones(3, dtype=np.float32)).parameters.dtype == np.float64


@pytest.mark.parametrize(
    "settings",
    [
        *({name: 2**40} for name in ("iterations", "history", "threads")),
        *({name: -1} for name in ("threads", "tolerance")),
        {"iterations": 0},
        {"history": 0},
        {"tolerance": math.nan},
    ],
)
def test_settings_out_of_range(settings):
    with pytest.raises(ConfigError, match=r"\[trainer\]"):
        LBFGS(**settings)


def test_it_asks_for_the_whole_corpus_as_one_batch():
    trainer = LBFGS(threads=2)
    assert trainer.sees_all
    assert trainer.thread_pool().n_threads == 2
    assert LBFGS().thread_pool().n_threads >= 1
    assert LBFGS(iterations=1, history=1, tolerance=0.0).iterations == 1
    assert list(make_whole_corpus_batcher()(iter(range(5)))) == [[0, 1, 2, 3, 4]]


def through_json(state: dict[str, Any]) -> dict[str, Any]:
    """A state as a checkpoint keeps it: arrays as they are, all else as JSON."""
    arrays = {name: value.copy() for name, value in state.items() if isinstance(value, np.ndarray)}
    return {**json.loads(json.dumps({k: v for k, v in state.items() if k not in arrays})), **arrays}


@pytest.mark.parametrize("before", [0, 4, 9])
def test_it_goes_on_from_its_state_to_the_last_bit(generator, before):
    problem, size = chain_problem(generator)
    whole = start(problem, np.zeros(size), tolerance=0.0)
    whole.run(before)
    state = through_json(whole.state())
    whole.run(5)
    resumed = start(problem, np.zeros(size), tolerance=0.0)
    resumed.run(2)
    resumed.restore(state)
    resumed.run(5)
    assert resumed.parameters.tobytes() == whole.parameters.tobytes()
    assert (resumed.value, resumed.iteration) == (whole.value, whole.iteration)


@pytest.mark.parametrize("damage", ["shape", "type", "nan", "missing"])
def test_a_state_that_does_not_fit_is_refused(generator, damage):
    problem, size = chain_problem(generator)
    run = start(problem, np.zeros(size))
    run.run(3)
    state = through_json(run.state())
    move = state["move 0"]
    damaged = {
        "shape": move[:-1],
        "type": move.astype(np.float64),
        "nan": np.full_like(move, np.nan),
    }
    del state["move 0"]
    if damage in damaged:
        state["move 0"] = damaged[damage]
    parameters = run.parameters.copy()
    with pytest.raises((KeyError, ValueError)):
        run.restore(state)
    np.testing.assert_array_equal(run.parameters, parameters)
