"""The greedy search, on scores that are made up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from thinc.api import Config

from spacy_cascade.tools.recipes.deciding import Rules, Variant
from spacy_cascade.tools.search.greedy import START, Candidate, Search, Step, search_variants
from spacy_cascade.tools.search.trials import Trial

CONFIG = Config({"nlp": {"pipeline": []}, "x": {"a": 1, "b": 1, "c": 1}})
A, B, C = (Variant(name, {f"x.{name}": 2}, "") for name in "abc")
AGAIN = Variant("again", {"x.a": lambda number: 3 * number}, "")


class Runs:
    """Scores the settings, and remembers the rounds; Ctrl-C comes after some trainings."""

    def __init__(self, score: Callable[[dict[str, Any]], float], most: int = 10**9) -> None:
        self.score, self.most = score, most
        self.rounds: list[list[str]] = []
        self.outcomes: dict[str, list[list[int]]] = {}
        self.trials: dict[str, Trial] = {}

    def run(self, candidates: Sequence[Candidate]) -> None:
        self.rounds.append([candidate.name for candidate in candidates])
        for candidate in candidates:
            self.most -= 1
            if self.most < 0:
                raise KeyboardInterrupt
            settings = dict(candidate.settings)
            score = self.score({**CONFIG["x"], **short(settings)})
            outcomes = self.outcomes.get(candidate.name, [])
            self.trials[str(settings)] = Trial(settings, score, [], 1, outcomes)

    def trial_of(self, candidate: Candidate) -> Trial | None:
        return self.trials.get(str(dict(candidate.settings)))


def short(settings: dict[str, Any]) -> dict[str, Any]:
    return {name[2:]: value for name, value in settings.items()}


def search(runs: Runs, variants: Sequence[Variant], budget: int = 5, at_once: int = 1) -> Search:
    told: list[Step] = []
    found = search_variants(
        CONFIG,
        variants,
        Rules([], {}),
        budget=budget,
        at_once=at_once,
        run=runs.run,
        trial_of=runs.trial_of,
        told=told.extend,
    )
    assert told == found.steps
    return found


@pytest.mark.parametrize(
    ("at_once", "rounds"),
    [
        (1, [[START], ["a"], ["b"], ["c"]]),
        (2, [[START, "a"], ["b", "c"]]),
        (3, [[START, "a", "b"], ["c"]]),
    ],
)
def test_a_planted_setting_is_found(at_once: int, rounds: list[list[str]]) -> None:
    """`b` gains, and `c` gains on top of it only; `a` loses."""
    runs = Runs(lambda x: 0.5 + 0.1 * (x["b"] == 2) + 0.1 * (x["b"] == x["c"] == 2) - x["a"] / 10)
    found = search(runs, [A, B, C], at_once=at_once)
    assert runs.rounds == rounds
    assert found.best is not None
    # Beside `b`, `c` has nothing to build on.
    assert found.best.settings == ({"x.b": 2} if at_once == 2 else {"x.b": 2, "x.c": 2})


def test_of_two_that_gain_together_the_other_is_tried_on_top() -> None:
    runs = Runs(lambda x: 0.5 + 0.1 * (x["a"] == 2) + 0.2 * (x["b"] == 2))
    found = search(runs, [A, B], at_once=3)
    assert runs.rounds == [[START, "a", "b"], ["a"]]
    assert found.best is not None
    assert found.best.settings == {"x.b": 2, "x.a": 2}
    assert [(s.candidate.name, s.is_kept) for s in found.steps] == [
        (START, True), ("a", False), ("b", True), ("a", True),
    ]  # fmt: skip
    assert [round(s.gain, 3) for s in found.steps] == [0, 0.1, 0.2, 0.1]


def test_the_budget_is_not_exceeded() -> None:
    runs = Runs(lambda x: 0.5)
    found = search(runs, [A, B, C], budget=2)
    assert sum(map(len, runs.rounds)) == 2
    assert found.left == 0
    assert search(Runs(lambda x: 0.5), [A], budget=9).left == 7  # there is no more to try
    assert sum(map(len, runs.rounds)) == 2
    assert search(runs, [A], budget=0).best is None
    assert sum(map(len, runs.rounds)) == 2


def test_a_change_of_what_was_kept_is_not_tried() -> None:
    runs = Runs(lambda x: x["a"] / 10)
    found = search(runs, [A, AGAIN, B])
    assert runs.rounds == [[START], ["a"], ["b"]]
    assert found.best is not None
    assert found.best.settings == {"x.a": 2}


def test_gains_within_noise_are_not_kept() -> None:
    """The difference is that of one sentence of many that go either way."""
    runs = Runs(lambda x: 0.5 + 0.001 * (x["a"] == 2))
    runs.outcomes = {
        START: [[1, 1, 1], [0, 1, 1]] * 30,
        "a": [[0, 1, 1], [1, 1, 1]] * 30,
    }
    found = search(runs, [A])
    step = found.steps[-1]
    assert step.error > 2 * step.gain > 0
    assert not step.is_kept
    runs = Runs(lambda x: 0.5 + 0.2 * (x["a"] == 2))
    runs.outcomes = {START: [[0, 1, 1], [1, 1, 1]] * 30, "a": [[1, 1, 1], [1, 1, 1]] * 30}
    assert search(runs, [A]).steps[-1].is_kept


@pytest.mark.parametrize(
    ("most", "best"), [(0, None), (1, {}), (2, {"x.a": 2}), (3, {"x.a": 2, "x.b": 2})]
)
def test_what_ended_before_ctrl_c_counts(most: int, best: dict[str, Any] | None) -> None:
    runs = Runs(lambda x: x["a"] + x["b"], most)
    found = search(runs, [A, B, C])
    assert found.is_stopped
    assert (found.best and found.best.settings) == best
    assert found.left == 5 - most


@pytest.mark.parametrize("has_start", [True, False])
def test_ctrl_c_after_the_trainings_of_a_round_stops_as_well(has_start: bool) -> None:
    """A variant that ends before the start is no best one."""

    class Late(Runs):
        def trial_of(self, candidate: Candidate) -> Trial | None:
            return super().trial_of(candidate) if has_start or candidate.variant else None

        def run(self, candidates: Sequence[Candidate]) -> None:
            super().run(candidates)
            raise KeyboardInterrupt

    found = search(Late(lambda x: 0.5), [A], at_once=2)
    assert found.is_stopped
    assert (found.best is not None, len(found.steps)) == ((True, 2) if has_start else (False, 0))
    assert found.left == (3 if has_start else 4)
