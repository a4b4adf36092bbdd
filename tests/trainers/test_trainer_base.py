"""What all fits have: marks for who takes the weights over, states to check, no copies."""

from __future__ import annotations

import copy
import json
import math
import pickle
from typing import Any

import numpy as np
import pytest

from spacy_cascade.errors import ConfigError
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.structure import Weights
from spacy_cascade.losses.margin import Likelihood
from spacy_cascade.penalties.gaussian import Gaussian
from spacy_cascade.systems.induction.trainer import Induction
from spacy_cascade.systems.isomeric.trainer import JointLBFGS, TrainedJointly
from spacy_cascade.tools.scale.on_ray import OnRay
from spacy_cascade.tools.scale.sharded import Sharded
from spacy_cascade.trainers.base import Fit, Progress, Room, Shape, TaskOn, array_like
from spacy_cascade.trainers.lbfgs import LBFGS
from spacy_cascade.trainers.passive_aggressive import PassiveAggressive
from spacy_cascade.trainers.states import count_in, generator_in, number_in, truth_in


class Counting(Fit[int]):
    """It adds up what it is given."""

    def __init__(self) -> None:
        self.total = 0

    def _step(self, data: int, progress: Progress) -> float:
        self.total += data
        progress()
        return float(self.total)

    def weights(self) -> Weights:
        return Weights(np.full((1, 1), float(self.total)), np.zeros(0))


def marks(fit: Fit[Any]) -> tuple[bool, bool]:
    return fit.weights_are_stale, fit.hessian_is_stale


def test_a_step_gives_the_loss_and_marks_the_weights() -> None:
    fit, told = Counting(), []
    assert marks(fit) == (False, False)
    assert fit.step(2) == 2.0
    assert fit.step(3, lambda: told.append(fit.total)) == 5.0
    assert (marks(fit), told) == ((True, True), [5])
    assert marks(Counting()) == (False, False)
    assert (fit.hessian_diagonal(), fit.terms()) == (None, {})


def test_a_fit_without_a_state_goes_on_from_an_empty_one() -> None:
    """A copy has none, since a fit stays behind."""
    fit, other = Counting(), Counting()
    fit.restore({})
    assert marks(fit) == (True, True)
    with pytest.raises(ValueError, match="a state where Counting has none"):
        other.restore({"total": 1})
    assert marks(other) == (False, False)
    with pytest.raises(ConfigError, match=r"Counting has no 'state' and 'restore'"):
        fit.state()
    assert pickle.loads(pickle.dumps(fit)) is None
    assert copy.deepcopy({"fit": fit}) == {"fit": None}


NEEDED = np.zeros((2, 3), dtype=np.float32)


def test_an_array_of_a_state_is_copied_in_the_order_of_rows() -> None:
    found = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    copied = array_like(NEEDED, found)
    np.testing.assert_array_equal(copied, found)
    assert copied.flags.c_contiguous
    copied[0, 0] = 7.0
    assert found[0, 0] == 0.0


@pytest.mark.parametrize(
    "found",
    [
        NEEDED.T,
        NEEDED.reshape(-1),
        NEEDED.astype(np.float64),
        NEEDED * np.nan,
        NEEDED + np.inf,
        np.array([[0, 1, 2], [3, np.nan, 5]], dtype=np.float32),
    ],
)
def test_an_array_of_another_kind_is_refused(found: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"is needed|not finite"):
        array_like(NEEDED, found)


def test_wrappers_are_around_l_bfgs() -> None:
    for wrapper in (Induction, Sharded, OnRay):
        for other in (PassiveAggressive(), wrapper(LBFGS()), {"iterations": 3}, None):
            message = f"trainer of {wrapper.__name__} must be LBFGS, not "
            with pytest.raises(ConfigError, match=message):
                wrapper(other)
        trainer = wrapper(LBFGS(iterations=3, history=2))
        assert (trainer.iterations, trainer.sees_all) == (3, True)
        assert trainer.reads_corpus == issubclass(wrapper, Sharded | OnRay)
        trainer.check(Likelihood(), Gaussian(), LinearChain)
        with pytest.raises(ConfigError, match="needs a penalty"):
            trainer.check(Likelihood(), None, LinearChain)


def test_what_training_takes() -> None:
    """L-BFGS remembers steps, but not in memory with shards; sparse training has few weights."""
    few, many = Shape(10, 5, False), Shape(10, 200, False)
    weights = 10 * 200
    assert LBFGS(history=2).room(few) == Room(50 * (20 + 16), 50)
    assert LBFGS(history=2).room(many) == Room(weights * 8 + 10 * (20 + 16), 0)
    assert LBFGS(history=2).room(many._replace(label_pairs=True)) == Room(weights * 36, weights)
    assert Induction(LBFGS(history=2)).room(many) == LBFGS(history=2).room(many)
    assert Sharded(LBFGS(history=2)).room(many) == Room(weights * 20, weights)
    assert JointLBFGS(history=2).room(many) == Room(weights * 36, weights)
    assert TrainedJointly().room(few) == Room(50 * 20, 50)
    assert PassiveAggressive().room(few) == Room(50 * 20, 0)


def test_a_task_is_a_source_of_one_shard() -> None:
    task = TaskOn("data", "loss", None, Weights(np.zeros((1, 1)), np.zeros(0)))
    assert task.task() is task
    assert list(task.shards(1)) == ["data"]
    other = task.task_on("more")
    assert (other.data, other.loss, other.start, task.is_new) == ("more", "loss", task.start, False)
    assert task.extended(lambda source: (source, "more")) == (task, "more")


STATE: dict[str, Any] = np.random.PCG64(3).state  # type: ignore[assignment]


def test_what_is_right_is_taken() -> None:
    """Ends of ranges among it."""
    assert (count_in(3), number_in(-0.5), number_in(2), truth_in(True)) == (3, -0.5, 2.0, True)
    assert isinstance(number_in(2), float)
    assert [count_in(value, 2, 5) for value in (2, 5)] == [2, 5]
    assert count_in(2**53) == 2**53
    assert number_in(0.5, 0.5) == 0.5


@pytest.mark.parametrize("value", [True, "1", 1.0, -1, 2**53 + 1, None, [1], 10**5000], ids=type)
def test_no_counts(value: object) -> None:
    """Numbers of thousands of digits are named."""
    with pytest.raises(ValueError, match="whole number from 0 to") as caught:
        count_in(value)
    assert ("a very large number" in str(caught.value)) == (value == 10**5000)


@pytest.mark.parametrize("value", [True, "1", None, math.inf, math.nan, 10**400, -0.1])
def test_no_numbers(value: object) -> None:
    with pytest.raises(ValueError, match="number"):
        number_in(value, 0.0)


@pytest.mark.parametrize("value", ["no", 0, None])
def test_no_truths(value: object) -> None:
    with pytest.raises(ValueError, match="true or false"):
        truth_in(value)


def test_a_generator_goes_on() -> None:
    generator = np.random.default_rng(5)
    generator.integers(10, size=3, dtype=np.uint32)
    again = generator_in(json.loads(json.dumps(generator.bit_generator.state)))
    np.testing.assert_array_equal(again.permutation(50), generator.permutation(50))


LARGEST = {"state": 2**128 - 1, "inc": 2**128 - 1}


@pytest.mark.parametrize(
    "state",
    [
        None,
        {},
        {**STATE, "bit_generator": "MT19937"},
        {**STATE, "state": {"state": 1}},
        {**STATE, "state": {**LARGEST, "state": 2**128}},
        {**STATE, "state": {**LARGEST, "inc": 2**128}},
        {**STATE, "state": {"state": -1, "inc": 1}},
        {**STATE, "has_uint32": 2},
        {**STATE, "uinteger": 2**32},
        {**STATE, "more": 1},
    ],
)
def test_no_generators(state: object) -> None:
    with pytest.raises(ValueError, match=r"needed"):
        generator_in(state)


@pytest.mark.parametrize(
    "state",
    [
        {**STATE, "state": {"state": 0, "inc": 0}, "has_uint32": 0, "uinteger": 0},
        {**STATE, "has_uint32": 1, "uinteger": 2**32 - 1},
        {**STATE, "state": LARGEST},
    ],
)
def test_generators_at_the_ends(state: dict[str, Any]) -> None:
    made = generator_in(state).bit_generator.state
    names = ("has_uint32", "uinteger") + (("state",) if state["state"] is LARGEST else ())
    assert {name: made[name] for name in names} == {name: state[name] for name in names}


def test_long_values_are_cut() -> None:
    for check in (count_in, number_in, truth_in, generator_in):
        with pytest.raises(ValueError, match="needed") as caught:
            check("x" * 100)
        assert str(caught.value).startswith(repr("x" * 100)[:60] + " where")
