"""Registered names of release 0.2, which keep working until release 1.0, with a warning.

An `[objective]` block was a loss and the width of a Gaussian penalty in one.
"""

from dataclasses import dataclass

from ..deprecation import warn_renamed
from ..losses.base import Loss
from ..losses.margin import Hinge, Likelihood, SoftmaxMargin
from ..penalties.base import Penalty
from ..penalties.gaussian import Gaussian
from ..systems.isomeric.trainer import TrainedJointly


@dataclass(frozen=True)
class Objective:
    """What an `[objective]` block stood for."""

    loss: Loss | Hinge
    penalty: Penalty | None


def loss_and_penalty(
    loss: Loss | Hinge, penalty: Penalty | None, objective: Objective | None
) -> tuple[Loss | Hinge, Penalty | None]:
    """Those of the config's blocks, unless there is an `[objective]` block."""
    return (loss, penalty) if objective is None else (objective.loss, objective.penalty)


def make_likelihood(sigma: float = 1.0) -> Objective:
    """Registered as `spacy_cascade.Likelihood.v1`."""
    _warn("Likelihood")
    return Objective(Likelihood(), Gaussian(sigma))


def make_softmax_margin(kappa: float = 1.0, sigma: float = 1.0, miss: float = 1.0) -> Objective:
    """Registered as `spacy_cascade.SoftmaxMargin.v1`."""
    _warn("SoftmaxMargin")
    return Objective(SoftmaxMargin(kappa, miss), Gaussian(sigma))


def make_hinge(kappa: float = 1.0, miss: float = 1.0) -> Objective:
    """Registered as `spacy_cascade.Hinge.v1`."""
    _warn("Hinge")
    return Objective(Hinge(kappa, miss), None)


def make_trained_later() -> TrainedJointly:
    """Registered as `spacy_cascade.TrainedLater.v1`."""
    warn_renamed("spacy_cascade.TrainedLater.v1", "spacy_cascade.TrainedJointly.v1")
    return TrainedJointly()


def _warn(name: str) -> None:
    warn_renamed(
        f"[objective] with spacy_cascade.{name}.v1",
        f"[loss] with spacy_cascade.{name}.v2 and [penalty] with spacy_cascade.Gaussian.v1",
    )
