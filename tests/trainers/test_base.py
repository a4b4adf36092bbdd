"""What all fits have: marks for who takes the weights over, states, and no copies."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from spacy_cascade.errors import ConfigError
from spacy_cascade.inference.structure import Weights
from spacy_cascade.systems.induction.trainer import Induction
from spacy_cascade.trainers.base import Fit, Progress, array_like, check_induction
from spacy_cascade.trainers.lbfgs import LBFGS


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


def test_an_induction_is_one() -> None:
    check_induction(LBFGS(induction=Induction()))
    with pytest.raises(ConfigError, match=r"LBFGS has the induction 'all'.*induction = null"):
        check_induction(LBFGS(induction="all"))
