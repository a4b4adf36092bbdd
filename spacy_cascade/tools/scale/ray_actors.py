"""Workers that are actors of Ray, on one machine or a cluster.

Shards, questions and answers go through Ray's object store: a question is sent to each node once,
whatever the number of its workers. All nodes need this package, in the same release.
"""

from __future__ import annotations

import pickle
import weakref
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from ...errors import ConfigError
from .failures import Failure, check_deaths
from .messages import Answer, Question
from .server import ShardServer
from .shards import Shard


class RayActors:
    """The engine `ray`."""

    def start(self, shards: Iterable[Shard]) -> RayTeam:
        try:
            ray = import_module("ray")
        except ImportError as error:
            raise ConfigError(
                'engine = "ray" in the [trainer] block needs Ray, which is not installed. Install '
                'it with pip install "spacy-cascade[ray]", or set engine = "processes".'
            ) from error
        return RayTeam(ray, shards)


class Actor:
    """What runs within Ray."""

    def __init__(self, shard: Shard) -> None:
        # A copy, because arrays of the object store are read-only, and its room is for messages.
        self._server = ShardServer(pickle.loads(pickle.dumps(shard)))

    def answer(self, question: Question) -> Answer | Failure:
        try:
            return self._server.answer(question)
        except Exception as error:
            return Failure.of(error)


class RayTeam:
    """Actors; joins the cluster that there is (`RAY_ADDRESS`), or starts Ray on this machine."""

    def __init__(self, ray: Any, shards: Iterable[Shard]) -> None:
        self._ray = ray
        if not ray.is_initialized():
            ray.init(log_to_driver=False)
        self._make = ray.remote(num_cpus=1, max_restarts=0)(Actor).remote
        self._shards = [ray.put(shard) for shard in shards]
        self._actors: list[Any] = [self._make(shard) for shard in self._shards]
        self._finalizer = weakref.finalize(self, _end, ray, self._actors)

    def close(self) -> None:
        """End all actors. No question can be asked afterwards."""
        self._finalizer()

    def ask(self, question: Question) -> list[Answer]:
        try:
            return self._ask(question)
        except BaseException:
            _end(self._ray, self._actors)
            raise

    def _ask(self, question: Question) -> list[Answer]:
        sent, answers = self._ray.put(question), dict[int, Answer]()
        deaths = [0] * len(self._shards)
        waiting = {self._send(i, sent): i for i in range(len(deaths))}
        while waiting:
            (done, *_), _ = self._ray.wait(list(waiting))
            i = waiting.pop(done)
            try:
                found = self._ray.get(done)
            except self._ray.exceptions.RayError as error:
                self._actors[i] = None
                deaths[i] += 1
                check_deaths(deaths[i], i + 1, len(deaths), str(error))
                waiting[self._send(i, sent)] = i
                continue
            if isinstance(found, Failure):
                raise found.as_error()
            answers[i] = found
        return [answers[i] for i in range(len(deaths))]

    def _send(self, i: int, question: Any) -> Any:
        if self._actors[i] is None:
            self._actors[i] = self._make(self._shards[i])
        return self._actors[i].answer.remote(question)


def _end(ray: Any, actors: list[Any]) -> None:
    for i, actor in enumerate(actors):
        if actor is not None and ray.is_initialized():
            ray.kill(actor)
        actors[i] = None
