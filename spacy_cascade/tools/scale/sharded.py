"""Training on a corpus in shards: its loss is the sum of theirs, in their order.

So it does not matter where shards are, nor how many workers there are: the sums are the same bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from ...checks import check_counts, configured
from ...errors import ConfigError
from ...inference.structure import Structure, Weights
from ...losses.base import CorpusLoss, LabelledSequences, Loss
from ...parallel import Workers
from ...trainers.base import BYTES_OF_WEIGHT, Room, Shape, Source, TaskOn
from ...trainers.lbfgs import AroundLBFGS
from ...trainers.lbfgs_run import BatchFit
from ...trainers.minibatch import of_used_rows
from ...types import Floats1d, Floats2d, Ints1d
from .packing import Shelf, singles_in_file

_BLOCK = 1 << 12
"""Rows that are added at once; with what they are added to, they fit into the cache."""


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

    rows: the features that it has. of_features `[k, W]`: to these. transitions `[E]`: to the
    gradient.
    """

    rows: Ints1d
    of_features: Floats2d
    value: float = 0.0
    transitions: Floats1d | None = None

    def add_to(self, total: Floats2d) -> None:
        """Add what it adds to features to their sums `[K, W]`, with little memory."""
        for begin in range(0, len(self.rows), _BLOCK):
            block = slice(begin, begin + _BLOCK)
            total[self.rows[block]] += self.of_features[block]


class Shard(NamedTuple):
    """A part of a corpus; rows: of the weights that it uses, ascending. data: over these alone.

    What all parts add to all weights would take most of the time of a large corpus.
    """

    rows: Ints1d
    data: LabelledSequences

    @classmethod
    def of(cls, data: LabelledSequences) -> Shard:
        rows, encoded = of_used_rows(data.encoded)
        return cls(rows, replace(data, encoded=encoded))


def answer(question: Question, rows: Ints1d, loss: CorpusLoss) -> Answer:
    """What a shard adds; rows: those of its loss."""
    wanted, weights = question
    if weights is None:
        return Answer(rows, loss.counts()[:, None])
    own = np.asarray(weights.features[rows], dtype=np.float64)
    of_shard = weights._replace(features=own)
    if wanted is Wanted.HESSIAN:
        return Answer(rows, loss.hessian_diagonal(of_shard))
    value, transitions = loss.value_and_gradient(of_shard, own)
    return Answer(rows, own, value, transitions)


class Shards(Protocol):
    """Where the shards of a corpus are."""

    def ask(self, question: Question) -> Iterator[Answer]:
        """The answers of all shards, in the order of the corpus."""


class Sharding(Protocol):
    """A corpus in shards.

    n_units: in all of them. structure: theirs.
    """

    n_units: int
    structure: Structure


class ShardedLoss:
    """The loss of a corpus, as `CorpusLoss`; n_features: `K`."""

    def __init__(self, shards: Shards, n_features: int) -> None:
        self.shards, self.n_features = shards, n_features

    def counts(self) -> Floats1d:
        """Number of units that have each feature, float64 `[K]`."""
        total = np.zeros((self.n_features, 1))
        for each in self.shards.ask(Question(Wanted.COUNTS)):
            each.add_to(total)
        return total[:, 0]

    def hessian_diagonal(self, weights: Weights) -> Floats2d:
        """The diagonal of the second derivatives, `[K, S]`, of the parameters before mixing."""
        total = np.zeros(weights.features.shape)
        for each in self.shards.ask(Question(Wanted.HESSIAN, weights)):
            each.add_to(total)
        return total

    def value_and_gradient(self, weights: Weights, out: Floats2d) -> tuple[float, Floats1d]:
        """As of a `CorpusLoss`; the weights of features may stand in `out` until the end."""
        value, transitions, total = 0.0, np.zeros_like(weights.transitions), np.zeros_like(out)
        for each in self.shards.ask(Question(Wanted.GRADIENT, weights)):
            assert each.transitions is not None
            value += each.value
            transitions += each.transitions
            each.add_to(total)
        out[:] = total
        return value, transitions


class CorpusFile:
    """Shards of a corpus in a temporary file; one at a time is in memory.

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
        self._shards.append(Shard.of(replace(data, structure=None)))  # type: ignore[arg-type]
        self.n_units += len(data.observed)

    def __iter__(self) -> Iterator[Shard]:
        """The shards in order, each read when it is asked for."""
        # A generator would keep the last shard while it reads the next one.
        return map(self._read, self._shards)

    def _read(self, shard: Shard) -> Shard:
        return shard._replace(data=replace(shard.data, structure=self.structure))


@dataclass
class FileShards:
    """The shards of a corpus in a file, or in memory, one after the other."""

    corpus: Iterable[Shard]
    loss: Loss
    workers: Workers

    def ask(self, question: Question) -> Iterator[Answer]:
        def of_shard(shard: Shard) -> Answer:
            loss = CorpusLoss(shard.data, self.loss, self.workers)
            return answer(question, shard.rows, loss)

        return map(of_shard, self.corpus)


@dataclass(frozen=True)
class ShardedTrainer(AroundLBFGS):
    """L-BFGS on a corpus in shards.

    tokens: of a shard, about; the last bits of the weights depend on it, and on nothing else here.
    """

    tokens: int = 500_000

    reads_corpus: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_counts("trainer", tokens=self.tokens)
        if self.tokens < 1 or self.trainer.sparse:
            raise ConfigError(
                f"{type(self).__name__} needs tokens of 1 or more, and trains all weights, not "
                f"{self}. Mend the [trainer] block, or write sparse = null into [trainer.trainer]."
            )

    def room(self, shape: Shape) -> Room:
        n_weights = shape.n_features * shape.n_columns
        return Room(n_weights * BYTES_OF_WEIGHT, n_weights)

    def minimise(self, shards: Shards, corpus: Sharding, task: TaskOn[Any]) -> BatchFit:
        """Begin to train; what L-BFGS remembers, which is most of it, goes to files."""
        loss = ShardedLoss(shards, len(task.start.features))
        given = loss, corpus.structure, corpus.n_units, task
        return self.trainer.minimise(*given, singles_in_file)


@configured
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
        return self.minimise(shards, corpus, task)
