"""What all fits have: marks for who takes the weights over, states, and no copies."""

from __future__ import annotations

import copy
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


def test_what_a_fit_need_not_have() -> None:
    fit = Counting()
    assert fit.hessian_diagonal() is None
    assert fit.terms() == {}
    with pytest.raises(ConfigError, match=r"Counting has no 'state' and 'restore'"):
        fit.state()


def test_a_fit_without_a_state_goes_on_from_an_empty_one() -> None:
    fit = Counting()
    fit.restore({})
    assert marks(fit) == (True, True)
    other = Counting()
    with pytest.raises(ValueError, match="a state where Counting has none"):
        other.restore({"total": 1})
    assert marks(other) == (False, False)


def test_a_fit_stays_behind() -> None:
    assert pickle.loads(pickle.dumps(Counting())) is None
    assert copy.deepcopy({"fit": Counting()}) == {"fit": None}


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
            with pytest.raises(
                ConfigError, match=rf"{wrapper.__name__} .*LBFGS\.v1.*trainer\.trainer"
            ):
                wrapper(other)
        trainer = wrapper(LBFGS(iterations=3, history=2))
        assert (trainer.iterations, trainer.sees_all) == (3, True)
        assert trainer.reads_corpus == issubclass(wrapper, Sharded | OnRay)
        trainer.check(Likelihood(), Gaussian(), LinearChain)
        with pytest.raises(ConfigError, match="needs a penalty"):
            trainer.check(Likelihood(), None, LinearChain)


def test_what_training_takes() -> None:
    """L-BFGS remembers steps, sparse training has few weights, and shards are never sparse."""
    few, many = Shape(10, 5, False), Shape(10, 200, False)
    weights = 10 * 200
    assert LBFGS(history=2).room(few) == Room(50 * (20 + 16), 50)
    assert LBFGS(history=2).room(many) == Room(weights * 8 + 10 * (20 + 16), 0)
    assert LBFGS(history=2).room(many._replace(label_pairs=True)) == Room(weights * 36, weights)
    assert Induction(LBFGS(history=2)).room(many) == LBFGS(history=2).room(many)
    assert Sharded(LBFGS(history=2)).room(many) == Room(weights * 36, weights)
    assert JointLBFGS(history=2).room(many) == Room(weights * 36, weights)
    assert TrainedJointly().room(few) == Room(50 * 20, 50)
    assert PassiveAggressive().room(few) == Room(50 * 20, 0)


def test_a_task_is_a_source_of_one_shard() -> None:
    task = TaskOn("data", "loss", None, Weights(np.zeros((1, 1)), np.zeros(0)))
    assert task.task() is task
    assert list(task.shards(1)) == ["data"]
    other = task.task_on("more")
    assert (other.data, other.loss, other.start, task.is_new) == ("more", "loss", task.start, False)
