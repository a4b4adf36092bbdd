"""Joint training of two chains (ICRF; docs/method.md, sections 3.5 and 5.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...checks import configured
from ...errors import ConfigError, TrainingError
from ...inference.structure import Structure, require
from ...losses.base import CorpusLoss
from ...losses.margin import MarginLoss
from ...parallel import Workers
from ...penalties.base import Penalty
from ...pipeline.learning import ExampleSource
from ...trainers.base import BYTES_OF_WEIGHT, Fit, Progress, Room, Shape, Source, State, Task
from ...trainers.lbfgs import BatchSettings
from ...trainers.lbfgs_run import BatchFit, LBFGSRun
from ...trainers.objective import Objective
from .loss import NEEDS, IsomericLoss, JointObjective


def partner(component: Any, name: str) -> Any:
    """The component of that name, which is to be trained together with a later one.

    Raises `TrainingError` where it is not there, is trained by itself, or finds spans that the
    templates of the later one do not look at.
    """
    nlp = component.pipeline
    if nlp is None or name not in nlp.pipe_names:
        raise TrainingError(
            f"'{component.name}' is trained jointly with '{name}', but the pipeline has no "
            "component of that name. Add a cascade_segmenter of that name before it, or name the "
            f"one that is there as 'first' in [components.{component.name}.trainer]."
        )
    earlier: Any = nlp.get_pipe(name)
    if getattr(getattr(earlier, "trainer", None), "iterations", 1):
        raise TrainingError(
            f"'{name}' cannot be trained jointly with '{component.name}': it has to be a "
            'cascade_segmenter. Put @misc = "spacy_cascade.TrainedJointly.v1" into '
            f"[components.{name}.trainer]."
        )
    key = getattr(earlier, "spans_key", None)
    if f"span({key})" not in component.space.plan.placed:
        raise TrainingError(
            f"'{component.name}' does not look at the spans of '{name}'. Add templates such as "
            f"'span({key})@-1..1' to [components.{component.name}.model.templates]."
        )
    return earlier


class PairSource:
    """A source that knows the sources of earlier components."""

    def __init__(self, source: ExampleSource) -> None:
        self._source = source

    def partner(self, name: str) -> ExampleSource:
        """The source of an earlier component of that name, which has the same examples.

        Raises `TrainingError` where it cannot be trained together with this one.
        """
        return self._source.beside(partner(self._source.component, name))


@dataclass(frozen=True)
class TrainedJointly:
    """No training of its own; registered as `spacy_cascade.TrainedJointly.v1`.

    For the first of two components, which the `JointLBFGS` of the second one trains, too.
    """

    sees_all: ClassVar[bool] = True
    reads_corpus: ClassVar[bool] = False

    @property
    def iterations(self) -> int:
        return 0

    def check(self, loss: object, penalty: object, structure: type[Structure]) -> None:
        check_likelihood(self, loss, penalty, structure)

    def room(self, shape: Shape) -> Room:
        n_weights = shape.n_features * shape.n_columns
        return Room(n_weights * BYTES_OF_WEIGHT, n_weights)

    def begin(self, source: Source) -> JointlyFitted:
        raise TrainingError(
            "A component with the trainer TrainedJointly is trained by a later one, with the "
            "trainer JointLBFGS. Add that one to the pipeline, or give this one an LBFGS trainer."
        )


@configured
@dataclass(frozen=True)
class JointLBFGS(BatchSettings):
    """L-BFGS on two chains at once; registered as `spacy_cascade.JointLBFGS.v1`.

    first: name of the component that comes before, whose spans the templates of this one read. C:
    strength of the constraint, 0 for two separate trainings. Others: see `BatchSettings`.

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

    def begin(self, source: Source) -> JointFit:
        """Begin both; the fit of the first component has no steps of its own."""
        partner = source.extended(PairSource).partner(self.first)
        first, second = partner.task(), source.task()
        workers = self.thread_pool()
        one, two = (_objective(task, workers) for task in (first, second))
        joint = JointObjective(one, two, self.C)
        start = np.concatenate([one.parameters(first.start), two.parameters(second.start)])
        run = LBFGSRun(self, joint, start, workers)
        n = one.n_parameters
        fitted = JointlyFitted(one, run, slice(n))
        partner.join(fitted)
        part = slice(n, None)
        return JointFit(two, run, part, joint.loss, fitted, self.first)


def _objective(task: Task, workers: Workers) -> Objective:
    assert task.penalty is not None
    return Objective.of(CorpusLoss(task.data, task.loss, workers), task.penalty)


class JointlyFitted(BatchFit):
    """The fit of the first component, which a step of the second one moves."""

    def _step(self, data: object, progress: Progress) -> float:
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

    def _step(self, data: object, progress: Progress) -> float:
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
