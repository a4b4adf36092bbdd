"""Joint training of two components, as `update` of the second one goes on with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.training import Example

from ...errors import TrainingError
from ...losses.isomeric import IsomericProblem
from ...models.linear import get_weights, set_weights
from ...trainers.base import State
from ...trainers.joint import JointLBFGS, TrainedJointly
from ...types import Floats1d, Floats2d
from .updates import BatchTraining, Temporary, make_problem

if TYPE_CHECKING:
    from ..base import CascadePipe


class NoTraining(Temporary):
    """What `update` of a component does that a later one trains: nothing."""

    def __init__(self, pipe: CascadePipe[Any]) -> None:
        self._pipe = pipe
        self.joint: JointTraining | None = None

    def update(self, pipe: CascadePipe[Any], examples: Sequence[Example]) -> float:
        """No loss of its own."""
        return 0.0

    def terms(self) -> dict[str, float]:
        """None of its own."""
        return {}

    def weights(self) -> tuple[Floats2d, Floats1d]:
        """Those that it has."""
        return get_weights(self._pipe.model)

    def curvature(self) -> Floats2d | None:
        """That of the joint training, where it has begun."""
        return None if self.joint is None else self.joint.first_curvature()

    def state(self) -> State:
        """None of its own."""
        return {}

    def restore(self, pipe: CascadePipe[Any], state: State) -> None:
        """Nothing: the later component brings the weights back."""


class JointTraining(BatchTraining):
    """One optimisation of the component and of the one that its trainer names as the first."""

    def __init__(self, trainer: JointLBFGS) -> None:
        super().__init__(trainer)
        self._joint_trainer = trainer
        self._joint: IsomericProblem | None = None
        self._first: CascadePipe[Any] | None = None

    def update(self, pipe: CascadePipe[Any], examples: Sequence[Example]) -> float:
        """Run the trainer's iterations on the whole corpus; sync_weights the first's weights."""
        value = super().update(pipe, examples)
        self._publish_first()
        return value

    def restore(self, pipe: CascadePipe[Any], state: State) -> None:
        """Go on with the optimisation from a state of it; sync_weights the first's weights."""
        super().restore(pipe, state)
        self._publish_first()

    def _publish_first(self) -> None:
        assert self._joint is not None
        assert self._first is not None
        assert self._run is not None
        first = self._run.parameters[: self._joint.n_first]
        set_weights(self._first.model, *self._joint.first.weights(first))

    def terms(self) -> dict[str, float]:
        """Log-likelihoods of both, the penalty and the mean distance at the last update."""
        assert self._joint is not None
        assert self._first is not None
        terms = self._joint.terms
        return {
            f"log-likelihood of {self._first.name}": -terms.first,
            "of its own": -terms.second,
            "penalty": terms.penalty,
            "mean |D|": terms.distance,
        }

    def weights(self) -> tuple[Floats2d, Floats1d]:
        """Weights of the second component where the optimisation stands."""
        assert self._joint is not None
        assert self._run is not None
        return self._joint.second.weights(self._run.parameters[self._joint.n_first :])

    def curvature(self) -> Floats2d | None:
        """That of the second component's own loss, if training has begun."""
        if self._joint is None or self._run is None:
            return None
        return self._joint.second.curvature(self._run.parameters[self._joint.n_first :])

    def first_curvature(self) -> Floats2d | None:
        """That of the first component's own loss, if training has begun."""
        if self._joint is None or self._run is None:
            return None
        return self._joint.first.curvature(self._run.parameters[: self._joint.n_first])

    def _begin(self, pipe: CascadePipe[Any], examples: Sequence[Example]) -> None:
        if not pipe.warm_start:
            self._refuse_partial_batch(pipe, len(examples))
        first = _first_of(pipe, self._joint_trainer.first)
        workers = self._joint_trainer.workers()
        one, start = make_problem(first, examples, workers)
        two, second_start = make_problem(pipe, examples, workers)
        self._first, self._joint = first, self._joint_trainer.join(one, two)
        start = np.concatenate([start, second_start])
        self._problem = two
        self._run = self._joint_trainer.start(self._joint, start, workers)
        if isinstance(first._training, NoTraining):
            first._training.joint = self


def _first_of(pipe: CascadePipe[Any], name: str) -> CascadePipe[Any]:
    """The component to be trained together with this one."""
    from ..segmenter import CascadeSegmenter

    nlp = pipe.pipeline
    if nlp is None or name not in nlp.pipe_names:
        raise TrainingError(
            f"'{pipe.name}' is trained jointly with '{name}', but the pipeline has no component "
            "of that name. Add a cascade_segmenter of that name before it, or name the one that "
            f"is there as 'first' in [components.{pipe.name}.trainer]."
        )
    first = nlp.get_pipe(name)
    if not isinstance(first, CascadeSegmenter) or not isinstance(first.trainer, TrainedJointly):
        raise TrainingError(
            f"'{name}' cannot be trained jointly with '{pipe.name}': it has to be a "
            'cascade_segmenter. Put @misc = "spacy_cascade.TrainedJointly.v1" into '
            f"[components.{name}.trainer]."
        )
    if f"span({first.cfg['spans_key']})" not in pipe.space.plan.placed:
        raise TrainingError(
            f"'{pipe.name}' does not look at the spans of '{name}'. Add templates such as "
            f"'span({first.cfg['spans_key']})@-1..1' to [components.{pipe.name}.model.templates]."
        )
    return first
