"""The engine `ray` with as much of Ray as it uses, in this process."""

from __future__ import annotations

import pickle
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sharding import SMALL_PIECE, objective, results, task
from spacy_cascade import TrainingError, parallel
from spacy_cascade.losses.base import CorpusLoss
from spacy_cascade.parallel import Workers
from spacy_cascade.tools.scale.ray_actors import Actor
from spacy_cascade.tools.scale.shards import cut


class RayError(Exception):
    """What Ray says of an actor that is gone."""


class Handle:
    """Of an actor; `answer.remote` gives what `get` computes."""

    def __init__(self, actor: Any) -> None:
        self.actor, self.fails, self.answer = actor, "", SimpleNamespace(remote=self._later)

    def _later(self, sent: bytes) -> Any:
        def compute() -> Any:
            if self.fails:
                raise RayError(self.fails)
            return self.actor.answer(pickle.loads(sent))

        return compute


class Ray:
    """It keeps what it is asked for; tasks end in the reverse order."""

    def __init__(self) -> None:
        self.exceptions = SimpleNamespace(RayError=RayError)
        self.is_on, self.begun, self.options = False, [], []
        self.made: list[Handle] = []
        self.killed: list[Handle] = []

    def is_initialized(self) -> bool:
        return self.is_on

    def init(self, **settings: Any) -> None:
        self.is_on = True
        self.begun.append(settings)

    def remote(self, **options: Any) -> Any:
        self.options.append(options)
        return lambda kind: SimpleNamespace(remote=lambda shard: self._make(kind, shard))

    def _make(self, kind: Any, shard: bytes) -> Handle:
        self.made.append(Handle(kind(pickle.loads(shard))))
        return self.made[-1]

    def put(self, value: Any) -> bytes:
        return pickle.dumps(value)

    def wait(self, tasks: list[Any]) -> tuple[list[Any], list[Any]]:
        return tasks[-1:], tasks[:-1]

    def get(self, compute: Any) -> Any:
        return compute()

    def kill(self, handle: Handle) -> None:
        self.killed.append(handle)


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Ray:
    made = Ray()
    monkeypatch.setitem(sys.modules, "ray", made)  # type: ignore[arg-type]
    monkeypatch.setattr(parallel, "_SMALLEST_PIECE", SMALL_PIECE)
    return made


def team_of(problem: Any) -> Any:
    return problem.loss._team


def with_actors(n: int = 3) -> Any:
    return objective(task("pairs"), workers=n, engine="ray", threads=1)


def test_actors_give_the_bits_of_the_local_loss(ray: Ray) -> None:
    """One of them that is gone is made again; the others stay."""
    problem, whole = with_actors(), objective(task("pairs"), parts=8, threads=1)
    assert results(problem) == results(whole)
    assert ray.begun == [{"log_to_driver": False}]
    assert ray.options == [{"num_cpus": 1, "max_restarts": 0}]
    first, second, third = ray.made
    second.fails = "no more memory"
    assert results(problem, 1) == results(whole, 1)
    assert len(ray.made) == 4
    assert team_of(problem)._actors == [first, ray.made[3], third]
    assert not ray.killed


def test_a_cluster_that_there_is_is_joined(ray: Ray) -> None:
    ray.is_on = True
    with_actors()
    assert ray.begun == []


def test_an_actor_that_always_ends_is_not_made_for_ever(
    ray: Ray, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them end with it, and the next question makes them again."""
    problem = with_actors()
    make = ray._make

    def make_weak(kind: Any, shard: bytes) -> Handle:
        handle = make(kind, shard)
        handle.fails = "no more memory"
        return handle

    first, second, third = ray.made
    second.fails = "no more memory"
    with monkeypatch.context() as patch:
        patch.setattr(ray, "_make", make_weak)
        message = r"Worker 2 of 3 ended 3 times before it could answer \(no more memory\)"
        with pytest.raises(TrainingError, match=message):
            results(problem)
    assert len(ray.made) == 5
    assert team_of(problem)._actors == [None, None, None]
    assert ray.killed == [first, third]
    assert results(problem) == results(objective(task("pairs"), parts=8, threads=1))
    assert team_of(problem)._actors == ray.made[5:]


def test_an_error_of_an_actor_is_one_of_the_package(ray: Ray) -> None:
    problem = with_actors(2)
    ray.made[0].actor._server = None
    with pytest.raises(TrainingError, match=r"A worker failed with AttributeError"):
        results(problem)
    assert ray.killed == ray.made


@pytest.mark.parametrize("is_on", [True, False])
def test_actors_end_with_their_team(is_on: bool, ray: Ray) -> None:
    """Unless Ray has ended before, and they with it."""
    problem = with_actors(2)
    ray.is_on = is_on
    team_of(problem).close()
    assert ray.killed == (ray.made if is_on else [])
    assert team_of(problem)._actors == [None, None]


def test_an_actor_has_a_shard_of_its_own() -> None:
    """Arrays of Ray's store can only be read."""
    given = task("pairs")
    shard = next(cut(CorpusLoss(given.data, given.loss, Workers(1)), 1))
    own = Actor(shard)._server.shard
    assert not np.shares_memory(own.observed, shard.observed)
    np.testing.assert_array_equal(own.observed, shard.observed)
