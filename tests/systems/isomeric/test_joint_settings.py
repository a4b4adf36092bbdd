"""What joint training accepts."""

from __future__ import annotations

import math
from typing import Any

import pytest

from spacy_cascade.errors import ConfigError
from spacy_cascade.inference.linear_chain import LinearChain
from spacy_cascade.inference.structure import Structure
from spacy_cascade.losses.margin import Hinge, Likelihood, SoftmaxMargin
from spacy_cascade.penalties.gaussian import Gaussian
from spacy_cascade.systems.isomeric.trainer import JointLBFGS, TrainedJointly
from spacy_cascade.trainers.lbfgs import LBFGS


@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf])
def test_the_strength_is_a_finite_number_of_zero_or_more(value: float) -> None:
    assert JointLBFGS(C=0.0).C == 0.0
    with pytest.raises(ConfigError, match=r"finite C of 0 or more.*\[trainer\]"):
        JointLBFGS(C=value)


@pytest.mark.parametrize("settings", [{"iterations": 0}, {"history": 0}, {"tolerance": -1.0},
                                      {"tolerance": math.nan}, {"threads": -1}])  # fmt: skip
@pytest.mark.parametrize("trainer", [LBFGS, JointLBFGS])
def test_settings_of_both_are_checked(trainer: Any, settings: dict[str, Any]) -> None:
    trainer(iterations=1, history=1, tolerance=0.0, threads=0)
    with pytest.raises(ConfigError, match=next(iter(settings))):
        trainer(**settings)


@pytest.mark.parametrize("trainer", [JointLBFGS(), TrainedJointly()])
def test_joint_training_is_by_likelihood_with_a_penalty(trainer: Any) -> None:
    trainer.check(Likelihood(), Gaussian(), LinearChain)
    trainer.check(SoftmaxMargin(kappa=0.0), Gaussian(), LinearChain)
    for loss, penalty in (
        (SoftmaxMargin(), Gaussian()), (Hinge(), Gaussian()), (Likelihood(), None),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match="trains by likelihood and cannot use"):
            trainer.check(loss, penalty, LinearChain)
    with pytest.raises(ConfigError, match="which Structure does not offer"):
        trainer.check(Likelihood(), Gaussian(), Structure)
