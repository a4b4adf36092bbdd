"""Iterative parameter mixing against twins that learn one after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from test_passive_aggressive import LATTICES, Twin, begin, setting

from spacy_cascade.errors import ConfigError
from spacy_cascade.trainers.passive_aggressive import OnlineFit, PassiveAggressive

POWER = 2
"""Of the average: later weights count more, so it matters when they were there."""


def learn_as_twins(
    twin: Twin, order: np.ndarray, n_parts: int, n_before: int
) -> tuple[float, list[tuple[float, np.ndarray]]]:
    """A pass: the parts from the same weights, then the mean. Returns the loss, and the counted
    weights after each sequence of each part."""
    start, loss, ends = twin.w, 0.0, []
    counted: list[tuple[float, np.ndarray]] = []
    for part in range(n_parts):
        twin.w = start
        for place in range(part, len(order), n_parts):
            loss += twin.learn(order[place])
            counted.append(((n_before + place + 1.0) ** POWER, twin.w))
        ends.append(twin.w)
    twin.w = np.mean(ends, axis=0)
    return loss, counted


@pytest.mark.parametrize("n_parts", [2, 3, 20])
@pytest.mark.parametrize("name", LATTICES)
def test_passes_are_those_of_twins(name: str, n_parts: int, generator: np.random.Generator) -> None:
    """With more parts than sequences, each sequence is a part."""
    learner, batch, _, twin = setting(
        generator, LATTICES[name], 0.5, True, average_power=POWER, passes=2, parts=n_parts
    )
    order, n = np.random.default_rng(5), len(batch.starts) - 1
    counted: list[tuple[float, np.ndarray]] = []
    for _ in range(3):
        losses = []
        for _ in range(2):
            loss, of_pass = learn_as_twins(
                twin, order.permutation(n), min(n_parts, n), len(counted)
            )
            losses.append(loss)
            counted += of_pass
        assert learner.step(batch) == pytest.approx(np.mean(losses), abs=1e-9)
        weights, transitions = twin.columns(twin.w)
        np.testing.assert_allclose(learner._averaged.weights, weights, atol=1e-9)
        np.testing.assert_allclose(learner._averaged.transitions, transitions, atol=1e-9)
        mean = sum(count * w for count, w in counted) / sum(count for count, _ in counted)
        for found, expected in zip(learner.weights(), twin.columns(mean), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-9)
    assert twin.w.any()


def bits(fit: OnlineFit) -> list[bytes]:
    return [np.asarray(each).tobytes() for each in (*fit.weights(), *fit._averaged)]


def same_start(fit: OnlineFit, batch: Any, hinge: Any, **settings: Any) -> OnlineFit:
    return begin(replace(fit.settings, **settings), batch, hinge, fit._averaged.weights.copy())


def test_one_part_is_the_one_stream(generator: np.random.Generator) -> None:
    learner, batch, hinge, _ = setting(generator, LATTICES["pairs"], 0.1, True)
    assert learner.settings.parts == 1
    one = same_start(learner, batch, hinge, parts=1, threads=2)
    for _ in range(3):
        learner.step(batch)
        one.step(batch)
    assert bits(one) == bits(learner)


def test_any_number_of_threads_gives_the_same_bits(
    generator: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spacy_cascade.parallel._SMALLEST_PIECE", 4)
    learner, batch, hinge, _ = setting(generator, LATTICES["labels"], 0.1, True)
    results = []
    for threads in (1, 2, 4):
        fit = same_start(learner, batch, hinge, parts=4, threads=threads)
        for _ in range(3):
            fit.step(batch)
        results.append(bits(fit))
    assert results[0] == results[1] == results[2]
    two = same_start(learner, batch, hinge, parts=2)
    two.step(batch)
    assert bits(two) != results[0]


def test_a_state_goes_on(generator: np.random.Generator) -> None:
    learner, batch, hinge, _ = setting(generator, LATTICES["pairs"], 0.1, True, parts=3)
    other = same_start(learner, batch, hinge)
    learner.step(batch)
    other.restore(learner.state())
    for fit in (learner, other):
        fit.step(batch)
    assert bits(other) == bits(learner)
    assert learner.hessian_diagonal() is not None


def test_parts_are_at_least_one() -> None:
    with pytest.raises(ConfigError, match="parts must be 1 or more, not 0"):
        PassiveAggressive(parts=0)
    with pytest.raises(ConfigError, match="threads must be a number from 0"):
        PassiveAggressive(threads=-1)


def test_an_empty_batch(generator: np.random.Generator) -> None:
    learner, batch, _, _ = setting(generator, LATTICES["pairs"], 0.1, True, parts=3)
    before = bits(learner)
    nothing = replace(batch, starts=batch.starts[:1])
    assert learner.step(nothing) == 0.0
    assert bits(learner) == before
