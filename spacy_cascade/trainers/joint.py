"""Joint training of two chains (ICRF): what the config of each of them says."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..errors import ConfigError, TrainingError
from ..inference.structure import Structure, Weights, require
from ..losses.base import LabelledSequences
from ..losses.isomeric import NEEDS
from ..losses.margin import MarginLoss
from ..penalties.base import Penalty
from ..types import Floats1d, Floats2d
from .base import Fit, Progress, State, Task
from .lbfgs import LBFGS, LBFGSRun, make_objective
from .objective import JointObjective, Objective


@dataclass(frozen=True)
class TrainedJointly:
    """No training of its own; registered as `spacy_cascade.TrainedJointly.v1`.

    For the first of two components, which the `JointLBFGS` of the second one trains, too.
    """

    sees_all: ClassVar[bool] = True

    @property
    def iterations(self) -> int:
        """None of its own."""
        return 0

    def check(self, loss: object, penalty: object, structure: type[Structure]) -> None:
        check_likelihood(self, loss, penalty, structure)

    def begin(self, task: Task) -> "JointlyFitted":
        """Raises `TrainingError`: the later component begins."""
        raise TrainingError(
            "A component with the trainer TrainedJointly is trained by a later one, with the "
            "trainer JointLBFGS. Add that one to the pipeline, or give this one an LBFGS trainer."
        )


@dataclass(frozen=True)
class JointLBFGS(LBFGS):
    """L-BFGS on two chains at once; registered as `spacy_cascade.JointLBFGS.v1`.

    first: name of the component that comes before, and whose spans the templates of this one
    read. C: strength of the constraint between them, 0 for two separate trainings. Others: see
    `LBFGS`.

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

    def check(self, loss: object, penalty: object, structure: type[Structure]) -> None:
        check_likelihood(self, loss, penalty, structure)

    def begin_jointly(self, first: Task, second: Task) -> "tuple[JointlyFitted, JointFit]":
        """The fits of both; that of the first has no steps of its own."""
        workers = self.workers()
        objectives = make_objective(first, workers), make_objective(second, workers)
        joint = JointObjective(*objectives, self.C)
        start = [o.parameters(t.start) for o, t in zip(objectives, (first, second), strict=True)]
        run = LBFGSRun(self, joint, np.concatenate(start), workers)
        one = JointlyFitted(objectives[0], joint, run, part=0)
        return one, JointFit(self, objectives[1], joint, run, one)


class JointlyFitted(Fit[LabelledSequences]):
    """The fit of the first component, which a step of the second one moves."""

    def __init__(
        self, objective: Objective, joint: JointObjective, run: LBFGSRun, part: int
    ) -> None:
        self._objective = objective
        self._joint = joint
        self._run = run
        self._part = part

    @property
    def _parameters(self) -> Floats1d:
        return self._joint.split(self._run.parameters)[self._part]

    def _step(self, data: LabelledSequences, progress: Progress) -> float:
        return 0.0

    def weights(self) -> Weights:
        return self._objective.weights(self._parameters)

    def hessian_diagonal(self) -> Floats2d | None:
        """That of the component's own loss."""
        return self._objective.hessian_diagonal(self._parameters)

    def state(self) -> State:
        """Nothing: the later component has all."""
        return {}


class JointFit(JointlyFitted):
    """The fit of the second component, whose steps are those of both."""

    def __init__(
        self,
        trainer: JointLBFGS,
        objective: Objective,
        joint: JointObjective,
        run: LBFGSRun,
        first: JointlyFitted,
    ) -> None:
        super().__init__(objective, joint, run, part=1)
        self._trainer = trainer
        self._first = first

    def _step(self, data: LabelledSequences, progress: Progress) -> float:
        value = self._run.run(self._trainer.iterations, progress)
        data.design.release_memory()
        self._first.weights_are_stale = self._first.hessian_is_stale = True
        return value

    def terms(self) -> dict[str, float]:
        """Log-likelihoods of both, the constraint and the mean distance at the last step."""
        terms = self._joint.loss.terms
        return {
            f"log-likelihood of {self._trainer.first}": -terms.first,
            "of its own": -terms.second,
            "penalty": terms.constraint,
            "mean |D|": terms.distance,
        }

    def state(self) -> State:
        return self._run.state()

    def _restore(self, state: State) -> None:
        self._run.restore(state)
        self._first.weights_are_stale = self._first.hessian_is_stale = True


def check_likelihood(
    trainer: object, loss: object, penalty: object, structure: type[Structure]
) -> None:
    """Raise `ConfigError` for a loss with a margin, no penalty, or a structure without the sums."""
    is_likelihood = isinstance(loss, MarginLoss) and not np.any(loss.label_costs(2))
    if not is_likelihood or not isinstance(penalty, Penalty):
        raise ConfigError(
            f"{type(trainer).__name__} trains by likelihood and cannot use the loss {loss} with the "
            f'penalty {penalty}. Put @misc = "spacy_cascade.Likelihood.v2" into the [loss] block '
            'and @misc = "spacy_cascade.Gaussian.v1" into the [penalty] block of both components.'
        )
    require(structure, NEEDS, type(trainer).__name__)
