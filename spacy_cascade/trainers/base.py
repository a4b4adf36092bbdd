"""What trainers and fits are.

A trainer is what the config says. `begin` gives a fit: training under way, which owns all that
changes while it runs. A trainer refuses what it cannot train before training begins.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import (
    Any,
    ClassVar,
    Generic,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypeVar,
    runtime_checkable,
)

import numpy as np
import numpy.typing as npt

from ..errors import ConfigError
from ..inference.structure import Structure, Weights, require
from ..losses.base import LabelledSequences
from ..penalties.base import CentredPenalty
from ..types import Floats2d

State: TypeAlias = dict[str, Any]
"""What a fit goes on from: arrays, and values that JSON can hold, by name."""
Data = TypeVar("Data", contravariant=True)
"""What a fit learns from in a step."""
Corpus = TypeVar("Corpus")
"""What a fit begins with."""
Other = TypeVar("Other")
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

    A task is the simplest `Source`: all of its data are there.
    """

    data: Corpus
    loss: Any
    penalty: CentredPenalty | None
    start: Weights
    known: Floats2d | None = None
    is_new: ClassVar[bool] = False

    def task(self) -> TaskOn[Corpus]:
        return self

    def task_on(self, data: Other) -> TaskOn[Other]:
        return TaskOn(data, self.loss, self.penalty, self.start, self.known)

    def extended(self, kind: Callable[[Any], Other]) -> Other:
        return kind(self)

    def shards(self, n_tokens: int) -> Iterator[Corpus]:
        """One, since a loss may know the sequences of its data by their numbers."""
        yield self.data


Task: TypeAlias = TaskOn[LabelledSequences]


class Source(Protocol):
    """A component with a corpus, as its trainer sees it.

    is_new: whether nothing has been learnt of these examples yet, nor of others. A trainer that
    chooses features does so then.
    """

    @property
    def is_new(self) -> bool: ...

    def task(self) -> Task:
        """What is to be fitted, with the corpus in memory."""

    def task_on(self, data: Other) -> TaskOn[Other]:
        """What is to be fitted to data of a trainer's own, which are made of `shards`."""

    def shards(self, n_tokens: int) -> Iterator[LabelledSequences]:
        """The corpus, encoded in pieces of about so many tokens, each made when it is asked for."""

    def extended(self, kind: Callable[[Any], Other]) -> Other:
        """What else a trainer asks a source for; kind: makes it of this source."""


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

        data: any batch, for an online trainer; others keep the corpus that they began with.
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


class Shape(NamedTuple):
    """How large a model is: `K` features with `S` score columns.

    label_pairs: whether features see pairs of labels.
    """

    n_features: int
    n_columns: int
    label_pairs: bool = True


class Room(NamedTuple):
    """What training takes at least. n_bytes: of memory. n_weights: that will not be zero."""

    n_bytes: int
    n_weights: int


def trains_encoders(trainer: Trainer) -> bool:
    """Whether it passes gradients on to an encoder, which learns with it batch by batch."""
    return getattr(trainer, "trains_encoders", False)


BYTES_OF_WEIGHT = 8 + 8 + 4
"""Parameter and gradient in double precision, and the weight as the model keeps it."""


@runtime_checkable
class Trainer(Protocol):
    """Settings of a trainer, as the config gives them.

    sees_all: whether each step has to be given the whole corpus. reads_corpus: whether it goes
    through the corpus by itself (`Source.shards`), so that a reader can take the place of examples.
    """

    sees_all: ClassVar[bool]
    reads_corpus: ClassVar[bool]

    @property
    def iterations(self) -> int:
        """Of one `update`; 0 where another component's trainer does the work."""

    def check(self, loss: object, penalty: object, structure: type[Structure]) -> None:
        """Raise `ConfigError` for what it cannot train, naming the pair."""

    def room(self, shape: Shape) -> Room:
        """A lower bound of what training a model of this shape takes."""

    def begin(self, source: Source) -> Fit[Any]:
        """Begin at the weights of the source."""


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


def array_like(expected: npt.NDArray[Any], actual: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A copy of an array of a state. Raises `ValueError` for other sizes, types, or no numbers."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        raise ValueError(
            f"an array of {actual.dtype} {actual.shape} where {expected.dtype} {expected.shape} "
            "is needed"
        )
    if not np.isfinite(actual).all():
        raise ValueError("an array that is not finite")
    return np.array(actual, order="C")
