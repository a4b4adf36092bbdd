"""Training on a corpus in the actors of Ray, on one machine or a cluster.

Shards, weights and answers go through Ray's object store: weights are sent to each node once,
whatever the number of its workers. All nodes need this package, in the same release.
"""

from __future__ import annotations

import pickle
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...checks import check_counts, configured
from ...errors import CascadeError, ConfigError, TrainingError
from ...extras import library
from ...inference.structure import Structure
from ...losses.base import CorpusLoss, LabelledSequences, Loss
from ...parallel import Workers
from ...trainers.base import Source
from ...trainers.lbfgs_run import BatchFit
from .sharded import Answer, Question, Shard, ShardedTrainer, answer

_MOST_DEATHS = 3
"""An actor that dies so often is not started again."""


@configured
@dataclass(frozen=True)
class OnRay(ShardedTrainer):
    """With the corpus in Ray's actors; registered as `spacy_cascade.OnRay.v1`.

    It joins the cluster that there is (`RAY_ADDRESS`), or starts Ray on this machine. trainer:
    L-BFGS. tokens: of a shard, about; the last bits of the weights depend on it. workers: actors,
    each with a processor and every so-manieth shard; the result does not depend on them.

    Raises `ConfigError` for a setting out of range.
    """

    workers: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        check_counts("trainer", workers=self.workers)
        if self.workers < 1:
            raise ConfigError(
                f"OnRay needs 1 worker or more, not {self.workers}. Mend workers in the [trainer] "
                "block."
            )

    def begin(self, source: Source) -> BatchFit:
        """Raises `ConfigError` where Ray is not installed."""
        shards = RayShards(_ray(), self.workers)
        for shard in source.shards(self.tokens):
            shards.append(shard)
        task = source.task_on(shards)
        shards.start(task.loss)
        return self.minimise(shards, shards, task)


def _ray() -> Any:
    return library(
        "ray",
        "ray",
        'Training with @misc = "spacy_cascade.OnRay.v1"',
        ', or put @misc = "spacy_cascade.Sharded.v1" into the [trainer] block',
    )


class Actor:
    """What runs within Ray: the losses of some shards, on one thread."""

    def __init__(self, loss: Loss, *shards: Shard) -> None:
        # Copies, because arrays of the object store are read-only, and its room is for messages.
        own: list[Shard] = pickle.loads(pickle.dumps(shards))
        self._losses = [CorpusLoss(shard.data, loss, Workers(1)) for shard in own]
        self._rows = [shard.rows for shard in own]

    def answer(self, number: int, question: Question) -> Answer | CascadeError:
        """Of one of the shards; an error of this package is sent as it is."""
        try:
            return answer(question, self._rows[number], self._losses[number])
        except CascadeError as error:
            return error


class RayShards:
    """Shards in actors; who loses this loses the actors.

    n_units: in all shards. structure: of all of them, known once there is one.
    """

    structure: Structure

    def __init__(self, ray: Any, n_workers: int) -> None:
        self._ray, self._n_workers, self.n_units = ray, n_workers, 0
        if not ray.is_initialized():
            ray.init(log_to_driver=False)
        self._shards: list[Any] = []
        self._actors: list[Any] = []

    def append(self, data: LabelledSequences) -> None:
        """Put a shard into the object store."""
        self.structure = data.structure
        self._shards.append(self._ray.put(Shard.of(data)))
        self.n_units += len(data.observed)

    def start(self, loss: Loss) -> None:
        """Start the actors. Ray restarts one that dies, with its shards, and asks it again."""
        settings = {"num_cpus": 1, "max_restarts": _MOST_DEATHS, "max_task_retries": _MOST_DEATHS}
        make = self._ray.remote(**settings)(Actor).remote
        n = min(self._n_workers, len(self._shards))
        self._actors += [make(loss, *self._shards[i::n]) for i in range(n)]
        weakref.finalize(self, _end, self._ray, self._actors)

    def ask(self, question: Question) -> Iterator[Answer]:
        sent, n = self._ray.put(question), len(self._actors)
        asked = [self._actors[i % n].answer.remote(i // n, sent) for i in range(len(self._shards))]
        return map(self._received, asked)

    def _received(self, asked: Any) -> Answer:
        try:
            found: Answer | CascadeError = self._ray.get(asked)
        except self._ray.exceptions.RayError as error:
            raise TrainingError(
                f"A worker of Ray failed: {error}. If it died, perhaps for want of memory, give "
                "each less: set tokens in the [trainer] block to a smaller number, or workers to "
                "a larger one."
            ) from error
        if isinstance(found, CascadeError):
            raise found
        return found


def _end(ray: Any, actors: list[Any]) -> None:
    if ray.is_initialized():
        for actor in actors:
            ray.kill(actor)
