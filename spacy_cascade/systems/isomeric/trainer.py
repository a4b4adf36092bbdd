"""Joint training of two chains (ICRF; docs/method.md, sections 3.5 and 5.5)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...errors import ConfigError, TrainingError
from ...inference.structure import Structure, require
from ...losses.margin import MarginLoss
from ...penalties.base import Penalty
from ...trainers.base import Fit, Progress, State, Task
from ...trainers.lbfgs import LBFGS, make_objective
from ...trainers.lbfgs_run import BatchFit, LBFGSRun, Released
from ...trainers.objective import JointObjective, Objective
from .loss import NEEDS, IsomericLoss


@dataclass(frozen=True)
class TrainedJointly:
    """No training of its own; registered as `spacy_cascade.TrainedJointly.v1`.

    For the first of two components, which the `JointLBFGS` of the second one trains, too.
    """

    sees_all: ClassVar[bool] = True

    @property
    def iterations(self) -> int:
        return 0

    def check(self, loss: object, penalty: object, structure: type[Structure]) -> None:
        check_likelihood(self, loss, penalty, structure)

    def begin(self, task: Task) -> "JointlyFitted":
        raise TrainingError(
            "A component with the trainer TrainedJointly is trained by a later one, with the "
            "trainer JointLBFGS. Add that one to the pipeline, or give this one an LBFGS trainer."
        )


@dataclass(frozen=True)
class JointLBFGS(LBFGS):
    """L-BFGS on two chains at once, without induction; registered as `spacy_cascade.JointLBFGS.v1`.

    first: name of the component that comes before, whose spans the templates of this one read. C:
    strength of the constraint, 0 for two separate trainings. Others: see `LBFGS`.

    Raises `ConfigError` for a setting out of range.
    """

    first: str = "cascade_segmenter"
    C: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (np.isfinite(self.C) and self.C >= 0):
            raise ConfigError(
                f"Joint training needs a finite C of 0 or more, not {self.C}. Change the [trainer] "
                "block."
            )
        if self.induction is not None:
            raise ConfigError(
                "Joint training cannot find features. Write induction = null into the [trainer] "
                "block, or train each component by itself with LBFGS."
            )
        if self.sparse:
            raise ConfigError(
                "Joint training cannot be sparse. Write sparse = null into the [trainer] block, or "
                "train each component by itself with LBFGS."
            )
        if self.workers > 1:
            raise ConfigError(
                "Joint training has no workers. Write workers = 0 into the [trainer] block, or "
                "train each component by itself with LBFGS."
            )
        if self.shard_tokens:
            raise ConfigError(
                "Joint training needs the corpus in memory. Write shard_tokens = 0 into the "
                "[trainer] block, or train each component by itself with LBFGS."
            )

    def check(self, loss: object, penalty: object, structure: type[Structure]) -> None:
        check_likelihood(self, loss, penalty, structure)

    def begin_jointly(self, first: Task, second: Task) -> "tuple[JointlyFitted, JointFit]":
        """The fits of both; that of the first has no steps of its own."""
        workers = self.thread_pool()
        one, two = (make_objective(task, workers, self) for task in (first, second))
        joint = JointObjective(one, two, self.C)
        start = np.concatenate([one.parameters(first.start), two.parameters(second.start)])
        run = LBFGSRun(self, joint, start, workers)
        n = one.n_parameters
        fitted = JointlyFitted(one, run, slice(n))
        return fitted, JointFit(two, run, slice(n, None), joint.loss, fitted, self.first)


class JointlyFitted(BatchFit):
    """The fit of the first component, which a step of the second one moves."""

    def _step(self, data: Released, progress: Progress) -> float:
        return 0.0

    def state(self) -> State:
        """Nothing: the later component has all."""
        return {}

    def _restore(self, state: State) -> None:
        Fit._restore(self, state)


class JointFit(BatchFit):
    """The fit of the second component, whose steps are those of both."""

    def __init__(
        self,
        objective: Objective,
        run: LBFGSRun,
        part: slice,
        loss: IsomericLoss,
        first: JointlyFitted,
        name_of_first: str,
    ) -> None:
        super().__init__(objective, run, part)
        self._loss, self._first, self._name_of_first = loss, first, name_of_first

    def _step(self, data: Released, progress: Progress) -> float:
        value = super()._step(data, progress)
        self._first.weights_are_stale = self._first.hessian_is_stale = True
        return value

    def terms(self) -> dict[str, float]:
        """Log-likelihoods of both, the constraint and the mean distance at the last step."""
        terms = self._loss.terms
        return {
            f"log-likelihood of {self._name_of_first}": -terms.first,
            "of its own": -terms.second,
            "penalty": terms.constraint,
            "mean |D|": terms.distance,
        }

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self._first.weights_are_stale = self._first.hessian_is_stale = True


def check_likelihood(
    trainer: object, loss: object, penalty: object, structure: type[Structure]
) -> None:
    """Raise `ConfigError` for a loss with a margin, no penalty, or a structure without the sums."""
    is_likelihood = isinstance(loss, MarginLoss) and not np.any(loss.label_costs(2))
    if not is_likelihood or not isinstance(penalty, Penalty):
        raise ConfigError(
            f"{type(trainer).__name__} trains by likelihood and cannot use the loss {loss} with "
            f'the penalty {penalty}. Put @misc = "spacy_cascade.Likelihood.v2" into the [loss] '
            'block and @misc = "spacy_cascade.Gaussian.v1" into the [penalty] block of both '
            "components."
        )
    require(structure, NEEDS, type(trainer).__name__)
