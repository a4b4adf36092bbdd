"""Training on a corpus in shards: its loss is the sum of theirs, in their order.

So it does not matter where shards are, nor how many workers there are: the sums are the same bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from ...checks import check_counts
from ...errors import ConfigError
from ...inference.structure import Structure, Weights
from ...losses.base import CorpusLoss, LabelledSequences, Loss
from ...parallel import Workers
from ...trainers.base import Room, Shape, Source
from ...trainers.lbfgs import AroundLBFGS, BatchSettings
from ...trainers.lbfgs_run import BatchFit
from ...types import Floats1d, Floats2d, Ints1d
from .packing import Shelf


class Wanted(Enum):
    """What is asked of a shard."""

    COUNTS = "numbers of units that have each feature"
    GRADIENT = "loss and gradient"
    HESSIAN = "diagonal of the second derivatives"


class Question(NamedTuple):
    """weights: where the loss is computed; None where only counts are wanted."""

    wanted: Wanted
    weights: Weights | None = None


class Answer(NamedTuple):
    """What one shard adds.

    of_features `[k, W]`: to the rows of the features; valid until the next answer. rows: which ones
    these are. transitions `[E]`: to the gradient.
    """

    of_features: Floats2d
    rows: slice | Ints1d = slice(None)
    value: float = 0.0
    transitions: Floats1d | None = None


def answer(question: Question, loss: CorpusLoss, out: Floats2d | None) -> Answer:
    """What a shard adds; out: memory for a gradient, which may have the weights in it."""
    wanted, weights = question
    if weights is None:
        return Answer(loss.counts()[:, None])
    if wanted is Wanted.HESSIAN:
        return Answer(loss.hessian_diagonal(weights))
    out = np.empty(weights.features.shape) if out is None else out
    value, transitions = loss.value_and_gradient(weights, out)
    return Answer(out, value=value, transitions=transitions)


class Shards(Protocol):
    """Where the shards of a corpus are."""

    def ask(self, question: Question) -> Iterator[Answer]:
        """The answers of all shards, in the order of the corpus."""


class ShardedLoss:
    """The loss of a corpus, as `CorpusLoss`."""

    def __init__(self, shards: Shards) -> None:
        self.shards = shards

    def counts(self) -> Floats1d:
        """Number of units that have each feature, float64 `[K]`."""
        answers = self.shards.ask(Question(Wanted.COUNTS))
        total = np.array(next(answers).of_features)  # arrays from elsewhere can only be read
        for each in answers:
            total += each.of_features
        return total[:, 0]

    def hessian_diagonal(self, weights: Weights) -> Floats2d:
        """The diagonal of the second derivatives, `[K, S]`, of the parameters before mixing."""
        total = np.zeros(weights.features.shape)
        for each in self.shards.ask(Question(Wanted.HESSIAN, weights)):
            total[each.rows] += each.of_features
        return total

    def value_and_gradient(self, weights: Weights, out: Floats2d) -> tuple[float, Floats1d]:
        """As of a `CorpusLoss`; the weights of features may stand in `out` until the end."""
        value, transitions, total = 0.0, np.zeros_like(weights.transitions), np.zeros_like(out)
        for each in self.shards.ask(Question(Wanted.GRADIENT, weights)):
            assert each.transitions is not None
            value += each.value
            transitions += each.transitions
            total[each.rows] += each.of_features
        out[:] = total
        return value, transitions


class CorpusFile:
    """Shards of a corpus in a temporary file, over the same features; one at a time is in memory.

    n_units: in all shards. structure: of all of them, known once there is one.
    """

    structure: Structure

    def __init__(self) -> None:
        self.n_units, self._shards = 0, Shelf()

    def __len__(self) -> int:
        """Number of shards."""
        return len(self._shards)

    def append(self, data: LabelledSequences) -> None:
        """Write a shard. Raises `SavingError` where the disk is full."""
        self.structure = data.structure
        self._shards.append(replace(data, structure=None))  # type: ignore[arg-type]
        self.n_units += len(data.observed)

    def __iter__(self) -> Iterator[LabelledSequences]:
        """The shards in order, each read when it is asked for."""
        # A generator would keep the last shard while it reads the next one.
        return map(self._read, self._shards)

    def _read(self, shard: LabelledSequences) -> LabelledSequences:
        return replace(shard, structure=self.structure)


@dataclass
class FileShards:
    """The shards of a corpus in a file, or in memory, one after the other."""

    corpus: Iterable[LabelledSequences]
    loss: Loss
    workers: Workers
    _out: Floats2d | None = None

    def ask(self, question: Question) -> Iterator[Answer]:
        if question.wanted is Wanted.GRADIENT and self._out is None:
            assert question.weights is not None
            self._out = np.empty(question.weights.features.shape)

        def of_shard(data: LabelledSequences) -> Answer:
            return answer(question, CorpusLoss(data, self.loss, self.workers), self._out)

        return map(of_shard, self.corpus)


@dataclass(frozen=True)
class ShardedTrainer(AroundLBFGS):
    """L-BFGS on a corpus in shards.

    tokens: of a shard, about; the last bits of the weights depend on it, and on nothing else here.
    """

    tokens: int = 500_000

    reads_corpus: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_counts("trainer", tokens=self.tokens)
        if self.tokens < 1 or self.trainer.sparse:
            raise ConfigError(
                f"{type(self).__name__} needs tokens of 1 or more, and trains all weights, not "
                f"{self}. Mend the [trainer] block, or write sparse = null into [trainer.trainer]."
            )

    def room(self, shape: Shape) -> Room:
        return BatchSettings.room(self.trainer, shape)


@dataclass(frozen=True)
class Sharded(ShardedTrainer):
    """With the encoded corpus in a temporary file; registered as `spacy_cascade.Sharded.v1`.

    One shard at a time is in memory. trainer: L-BFGS. tokens: of a shard, about; the last bits of
    the weights depend on it.

    Raises `ConfigError` for a setting out of range.
    """

    def begin(self, source: Source) -> BatchFit:
        """Raises `SavingError` where the disk is full."""
        corpus = CorpusFile()
        for shard in source.shards(self.tokens):
            corpus.append(shard)
        task = source.task_on(corpus)
        shards = FileShards(corpus, task.loss, self.trainer.thread_pool())
        return self.trainer.minimise(ShardedLoss(shards), corpus.structure, corpus.n_units, task)
