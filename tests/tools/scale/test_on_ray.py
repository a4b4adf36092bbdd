"""Training in Ray's actors: with as much of Ray as is used, in this process, and with Ray."""

from __future__ import annotations

import pickle
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from reference import design_of
from shards import LOSS, Source, added_up, made_shards, random_weights, results
from spacy_cascade import ConfigError, TrainingError
from spacy_cascade.tools.scale.on_ray import Actor, OnRay
from spacy_cascade.tools.scale.sharded import Question, Shard, Sharded, Wanted
from spacy_cascade.trainers.lbfgs import LBFGS

TRAINER = LBFGS(iterations=4, threads=1)


class RayError(Exception):
    """What Ray says of an actor that is gone."""


class Handle:
    """Of an actor; `answer.remote` gives what `get` computes."""

    def __init__(self, actor: Any) -> None:
        self.actor, self.fails, self.answer = actor, "", SimpleNamespace(remote=self._later)

    def _later(self, number: int, sent: bytes) -> Any:
        def compute() -> Any:
            if self.fails:
                raise RayError(self.fails)
            return pickle.loads(pickle.dumps(self.actor.answer(number, pickle.loads(sent))))

        return compute


class Ray:
    """It keeps what it is asked for."""

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
        return lambda kind: SimpleNamespace(remote=lambda *given: self._make(kind, *given))

    def _make(self, kind: Any, loss: Any, *shards: bytes) -> Handle:
        self.made.append(Handle(kind(loss, *map(pickle.loads, shards))))
        return self.made[-1]

    def put(self, value: Any) -> bytes:
        return pickle.dumps(value)

    def get(self, compute: Any) -> Any:
        return compute()

    def kill(self, handle: Handle) -> None:
        self.killed.append(handle)


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Ray:
    made = Ray()
    monkeypatch.setitem(sys.modules, "ray", made)  # type: ignore[arg-type]
    return made


def begun(n_workers: int = 2) -> Any:
    source: Any = Source(made_shards())
    return OnRay(TRAINER, tokens=9, workers=n_workers).begin(source)


@pytest.mark.parametrize("n_workers", [1, 2, 9])
def test_actors_give_the_bits_of_shards_in_memory(n_workers: int, ray: Ray) -> None:
    """Whatever their number; there are no more than shards."""
    data, fit = made_shards(), begun(n_workers)
    assert len(ray.made) == min(n_workers, len(data))
    assert [len(handle.actor._losses) for handle in ray.made] == {1: [3], 2: [2, 1]}.get(
        n_workers, [1, 1, 1]
    )
    assert ray.begun == [{"log_to_driver": False}]
    assert ray.options == [{"num_cpus": 1, "max_restarts": 3, "max_task_retries": 3}]
    weights = random_weights(data[0])
    found = results(fit._objective.loss, weights)
    for one, other in zip(found, added_up(data, weights), strict=True):
        np.testing.assert_array_equal(one, other)


def test_it_trains_as_with_the_corpus_in_a_file(ray: Ray) -> None:
    source: Any = Source(made_shards())
    fits = [begun(), Sharded(TRAINER, tokens=9).begin(source)]
    assert len({fit.step(None) for fit in fits}) == 1
    for one, other in zip(*(fit.weights() for fit in fits), strict=True):
        np.testing.assert_array_equal(one, other)


def test_features_that_a_shard_does_not_have_are_not_sent() -> None:
    (data, *_), weights = made_shards(), random_weights(made_shards()[0])
    features = design_of(data).unit_features
    features.indices[features.indices == 0] = 1
    features = design_of(data).lexeme_features
    features.indices[features.indices == 0] = 1
    actor = Actor(LOSS, Shard.of(data))
    for wanted in (Wanted.GRADIENT, Wanted.HESSIAN):
        answer: Any = actor.answer(0, Question(wanted, weights))
        assert 0 not in answer.rows.tolist()
        assert len(answer.rows) == len(answer.of_features) > 0


def test_an_actor_has_a_shard_of_its_own() -> None:
    """Arrays of Ray's store can only be read; weights are not written to, either."""
    (data, *_), weights = made_shards(), random_weights(made_shards()[0])
    weights.features.flags.writeable = False
    actor = Actor(LOSS, Shard.of(data))
    assert not np.shares_memory(actor._losses[0].data.observed, data.observed)
    before = weights.features.copy()
    actor.answer(0, Question(Wanted.GRADIENT, weights))
    np.testing.assert_array_equal(weights.features, before)


def test_an_actor_that_fails_is_an_error_of_the_package(ray: Ray) -> None:
    fit = begun()

    def fail(*_: object) -> None:
        raise TrainingError("not finite")

    ray.made[0].actor._losses[0].value_and_gradient = fail
    with pytest.raises(TrainingError, match="not finite"):
        fit.step(None)
    ray.made[0].fails = "no more memory"
    with pytest.raises(TrainingError, match=r"A worker of Ray failed: no more memory.*tokens"):
        fit.step(None)


@pytest.mark.parametrize("is_on", [True, False])
def test_actors_end_with_their_fit(is_on: bool, ray: Ray) -> None:
    """Unless Ray has ended before, and they with it; a cluster that there is is joined."""
    ray.is_on = is_on
    fit = begun()
    assert len(ray.begun) == (not is_on)
    assert ray.killed == []
    ray.is_on = is_on
    del fit
    assert ray.killed == (ray.made if is_on else [])


def test_without_ray_it_says_how_to_add_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError, match=r"OnRay\.v1.*spacy-cascade\[ray\].*Sharded\.v1"):
        begun()


@pytest.mark.parametrize("workers", [-1, 0, 2**40])
def test_settings_out_of_range(workers: int) -> None:
    with pytest.raises(ConfigError, match=r"workers.*\[trainer\]"):
        OnRay(LBFGS(), workers=workers)


@pytest.mark.slow(kind="engines")
def test_ray_itself_gives_the_same_bits_also_after_a_worker_was_killed() -> None:
    real = pytest.importorskip("ray")
    source: Any = Source(made_shards())
    expected = Sharded(TRAINER, tokens=9).begin(source)
    try:
        fit = begun()
        shards = fit._objective.loss.shards
        assert fit.step(None) == expected.step(None)
        real.kill(shards._actors[0], no_restart=False)
        assert fit.step(None) == expected.step(None)
        for one, other in zip(fit.weights(), expected.weights(), strict=True):
            np.testing.assert_array_equal(one, other)
    finally:
        real.shutdown()
