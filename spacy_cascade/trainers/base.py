"""What trainers and fits are.

A trainer is what the config says. `begin` gives a fit: training under way, which owns all that
changes while it runs. A trainer refuses what it cannot train before training begins.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from ..errors import ConfigError
from ..inference.structure import Structure, Weights, require
from ..losses.base import LabelledSequences
from ..penalties.base import CentredPenalty
from ..tools.scale.corpus_file import CorpusFile
from ..types import Floats2d

State: TypeAlias = dict[str, Any]
"""What a fit goes on from: arrays, and values that JSON can hold, by name."""
Data = TypeVar("Data", contravariant=True)
"""What a fit learns from in a step."""
Corpus = TypeVar("Corpus")
"""What a fit begins with."""
Progress: TypeAlias = Callable[[], object]
"""Called after each iteration."""


def no_progress() -> None:
    """Nobody looks."""


@dataclass(frozen=True)
class TaskOn(Generic[Corpus]):
    """What is to be fitted.

    data: the whole corpus, in memory or in a file, or the first batch. loss: a loss that the
    trainer can use. penalty: None where the trainer takes none. start: the weights to begin with.
    known: the diagonal of the Hessian that earlier data gave at the start `[K, S]`, where there
    were any.
    """

    data: Corpus
    loss: Any
    penalty: CentredPenalty | None
    start: Weights
    known: Floats2d | None = None


Task: TypeAlias = TaskOn[LabelledSequences]
ShardedTask: TypeAlias = TaskOn[CorpusFile]


class Fit(ABC, Generic[Data]):
    """Training under way; it stays behind when its component is pickled or copied.

    weights_are_stale, hessian_is_stale: whether the model has older ones than the fit. Who takes
    them over sets these to False.
    """

    weights_are_stale = False
    hessian_is_stale = False

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()

    def step(self, data: Data, progress: Progress = no_progress) -> float:
        """Learn, as long as the trainer says; the loss.

        data: what the fit began with, or, for an online trainer, any batch.
        """
        loss = self._step(data, progress)
        self.weights_are_stale = self.hessian_is_stale = True
        return loss

    @abstractmethod
    def _step(self, data: Data, progress: Progress) -> float:
        """As `step`."""

    @abstractmethod
    def weights(self) -> Weights:
        """The weights to annotate with."""

    def hessian_diagonal(self) -> Floats2d | None:
        """How surely the data determine the weights, `[K, S]`; None where that is not known."""
        return None

    def terms(self) -> dict[str, float]:
        """What the loss of the last step consists of, by name, where that is of interest."""
        return {}

    def state(self) -> State:
        """All that the fit goes on from; its arrays may change with the next step.

        Raises `ConfigError` for a fit that no checkpoint can hold.
        """
        raise ConfigError(
            f"{type(self).__name__} has no 'state' and 'restore', so no checkpoint can hold it. "
            "Remove the checkpoints from [training.before_update], or train with LBFGS, "
            "JointLBFGS or PassiveAggressive."
        )

    def restore(self, state: State) -> None:
        """Go on from the state of a fit that began with the same data and settings.

        Raises `KeyError`, `TypeError` or `ValueError` where the state is no such one.
        """
        self._restore(state)
        self.weights_are_stale = self.hessian_is_stale = True

    def _restore(self, state: State) -> None:
        if state:
            raise ValueError(f"a state where {type(self).__name__} has none")


@runtime_checkable
class Trainer(Protocol):
    """Settings of a trainer, as the config gives them.

    sees_all: whether each step has to be given the whole corpus.
    """

    sees_all: ClassVar[bool]

    @property
    def iterations(self) -> int:
        """Of one `update`; 0 where another component's trainer does the work."""

    def check(self, loss: object, penalty: object, structure: type[Structure]) -> None:
        """Raise `ConfigError` for what it cannot train, naming the pair."""

    def begin(self, task: Task) -> Fit[LabelledSequences]:
        """Begin at the weights of the task."""


@runtime_checkable
class ShardTrainer(Protocol):
    """A trainer that can learn from a corpus in a file."""

    @property
    def shard_tokens(self) -> int:
        """Tokens of a shard, about; 0 to begin with a corpus in memory."""

    def begin_on_shards(self, task: ShardedTask) -> Fit[CorpusFile]:
        """Begin at the weights of the task."""


def shard_tokens(trainer: object) -> int:
    """Tokens of a shard of its corpus, about; 0 for a corpus in memory."""
    return trainer.shard_tokens if isinstance(trainer, ShardTrainer) else 0


@runtime_checkable
class JointTrainer(Protocol):
    """A trainer of two components at once."""

    @property
    def first(self) -> str:
        """Name of the earlier component."""

    def begin_jointly(
        self, first: Task, second: Task
    ) -> tuple[Fit[LabelledSequences], Fit[LabelledSequences]]:
        """Begin both; a step of the second fit makes one of both."""


def check_needs(
    trainer: object,
    loss: object,
    penalty: object,
    structure: type[Structure],
    *,
    loss_has: str,
    takes_penalty: bool,
    advice: str,
) -> None:
    """Raise `ConfigError` where a trainer, a loss, a penalty and a structure do not go together.

    loss_has: the member of a loss that the trainer uses. takes_penalty: whether there has to be
    one. advice: what to write instead.
    """
    name = type(trainer).__name__
    if not hasattr(loss, loss_has):
        raise ConfigError(
            f"{name} cannot train with the loss {loss}: it needs one with '{loss_has}'. {advice}"
        )
    if takes_penalty and penalty is None:
        raise ConfigError(
            f"{name} needs a penalty beside the loss {loss}, and there is none. {advice}"
        )
    if not takes_penalty and penalty is not None:
        raise ConfigError(
            f"{name} takes no penalty, and there is {penalty}. Write penalty = null into the "
            "component's block."
        )
    require(structure, getattr(loss, "needs", ()), f"{name} with the loss {loss}")


@runtime_checkable
class FeatureInduction(Protocol):
    """How a trainer finds features (`systems.induction.trainer`)."""

    def run(self, *task: Any) -> Any:
        """Find features for a corpus."""


def check_induction(trainer: Any) -> None:
    """Raise `ConfigError` where a trainer's induction is none."""
    if not isinstance(trainer.induction, FeatureInduction):
        raise ConfigError(
            f"{type(trainer).__name__} has the induction {trainer.induction!r}. Put "
            '@misc = "spacy_cascade.Induction.v1" into the [trainer.induction] block, or write '
            "induction = null into [trainer]."
        )


def array_like(expected: npt.NDArray[Any], found: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A copy of an array of a state. Raises `ValueError` for other sizes, types, or no numbers."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        raise ValueError(
            f"an array of {found.dtype} {found.shape} where {expected.dtype} {expected.shape} "
            "is needed"
        )
    if not np.isfinite(found).all():
        raise ValueError("an array that is not finite")
    return np.array(found, order="C")
