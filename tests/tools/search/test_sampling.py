"""The search by Optuna, on functions whose optimum is known, and where it was stopped."""

from __future__ import annotations

import json
import logging
import math
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from spacy.tokens import DocBin

from helpers import PROJECT, SENTENCES, blank, gold_doc
from spacy_cascade import ConfigError
from spacy_cascade.tools.search import sampling, searches
from spacy_cascade.tools.search.axes import Axis, Found, Point, Scores
from spacy_cascade.tools.search.searches import together, tune
from spacy_cascade.tools.search.trials import Archive, Settings, Task, Trial

AXES = (
    Axis("sigma", 0.001, 10.0, is_log=True),
    Axis("kappa", 0.0, 8.0),
    Axis("min_count", 1, 20, is_integer=True),
    Axis("history", 1, 1000, is_log=True, is_integer=True),
    Axis("C", 1e-5, 1e-1, is_log=True),
)
OPTIMA = [
    (0.2, 3.0, 4, 30, 0.001),
    (0.004, 7.5, 15, 900, 0.00003),
    (5.0, 0.5, 10, 3, 0.03),
    (0.05, 5.0, 19, 100, 0.0002),
]


def place(axis: Axis, value: float) -> float:
    """Where the value is in the range, from 0 to 1."""
    scale = math.log if axis.is_log else float
    return (scale(value) - scale(axis.low)) / (scale(axis.high) - scale(axis.low))


def scores_by(axes: Sequence[Axis], optimum: Point) -> Scores:
    """A function that falls off alike along every axis, with 0 at the optimum."""

    def score(point: Point) -> float:
        pairs = zip(axes, point, optimum, strict=True)
        return -sum((place(axis, x) - place(axis, y)) ** 2 for axis, x, y in pairs)

    return lambda points: [score(point) for point in points]


def best_of_chance(axes: Sequence[Axis], scores_of: Scores, trials: int) -> list[float]:
    """The best scores of 200 searches that try points anywhere."""
    generator = np.random.default_rng(1)

    def value(axis: Axis) -> float:
        share = generator.random()
        if axis.is_log:
            return axis.setting(axis.low * (axis.high / axis.low) ** share)
        return axis.setting(axis.low + (axis.high - axis.low) * share)

    return [max(scores_of([tuple(map(value, axes)) for _ in range(trials)])) for _ in range(200)]


@pytest.mark.parametrize("n_axes", [3, 5])
def test_it_is_better_than_chance(n_axes: int) -> None:
    """By much more than chance differs from chance: a search without a plan has 1 here, and in one
    of 200 cases 0.27."""
    axes = AXES[-n_axes:]
    found, by_chance = [], []
    for optimum in (optimum[-n_axes:] for optimum in OPTIMA):
        scores_of = scores_by(axes, optimum)
        best = sampling.search(axes, scores_of, trials=60, batch=4)
        for axis, x, y in zip(axes, best.point, optimum, strict=True):
            assert place(axis, x) == pytest.approx(place(axis, y), abs=0.2)
        found.append(best.score)
        by_chance.append(np.mean(best_of_chance(axes, scores_of, 60)))
    assert np.mean(found) / np.mean(by_chance) < 0.25


def test_what_is_tried_and_kept() -> None:
    tried: list[list[Point]] = []

    def scores_of(points: list[Point]) -> list[float]:
        tried.append(points)
        return [min(point[1], 4.0) for point in points]

    found = sampling.search(AXES, scores_of, trials=18, batch=4)
    assert [len(points) for points in tried] == [4, 4, 4, 4, 2]
    all_points = [point for points in tried for point in points]
    for axis, values in zip(AXES, zip(*all_points, strict=True), strict=True):
        assert all(axis.low <= value <= axis.high for value in values)
        assert all(float(f"{value:.4g}") == value for value in values)
        assert {type(value) for value in values} == {int if axis.is_integer else float}
    first = next(point for point in all_points if point[1] >= 4.0)
    assert found == Found(first, 4.0, [AXES])


def test_a_larger_number_of_trials_begins_with_a_smaller_one() -> None:
    runs: list[list[Point]] = []
    for trials in (13, 30):
        tried: list[Point] = []

        def scores_of(points: list[Point], tried: list[Point] = tried) -> list[float]:
            tried.extend(points)
            return scores_by(AXES, OPTIMA[0])(points)

        sampling.search(AXES, scores_of, trials=trials, batch=4)
        runs.append(tried)
    assert runs[0] == runs[1][:13]


@pytest.mark.parametrize(
    ("axes", "trials", "batch", "message"),
    [
        ([], 3, 1, "at least 1 setting, 1 trial and 1 process, not 0, 3 and 1"),
        (AXES, 0, 1, "not 5, 0 and 1"),
        (AXES, 1, 0, "not 5, 1 and 0"),
    ],
)
def test_what_cannot_be_searched(
    axes: Sequence[Axis], trials: int, batch: int, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        sampling.search(axes, lambda points: [0.0] * len(points), trials, batch)


def test_without_optuna_it_says_how_to_add_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ConfigError, match=r'pip install "spacy-cascade\[tune\]"'):
        sampling.search(AXES, lambda points: [0.0] * len(points), 3, 1)


@pytest.mark.filterwarnings("error")
def test_optuna_keeps_quiet_and_stays_as_it_was(capfd: pytest.CaptureFixture[str]) -> None:
    import optuna

    before = optuna.logging.get_verbosity()
    assert before <= logging.INFO
    sampling.search(AXES, lambda points: [0.0] * len(points), 3, 1)
    assert optuna.logging.get_verbosity() == before
    assert capfd.readouterr() == ("", "")


# Stopped and run again

SETTING = "components.cascade_{}.{}"
SEARCHES = {
    component: [
        Axis(SETTING.format(component, "penalty.sigma"), 0.02, 2.0, is_log=True),
        Axis(SETTING.format(component, "loss.kappa"), 0.0, 8.0),
    ]
    for component in ("segmenter", "classifier")
}


class Training:
    """Stands in for trials: the archive is real, scores are computed, the last of a batch first."""

    def __init__(self, most: int) -> None:
        self.left = most
        self.trained: list[str] = []

    def run_trials(
        self, task: Task, all_settings: Sequence[Settings], archive: Archive, *rest: object
    ) -> list[float]:
        for settings in reversed(all_settings):
            if archive.get(settings) is None:
                if not self.left:
                    raise KeyboardInterrupt
                self.left -= 1
                self.trained.append(json.dumps(settings))
                score = -sum((value - 0.7) ** 2 for value in settings.values()) / 3
                archive.add(Trial(settings, score, [score], 0.0))
        trials = [archive.get(settings) for settings in all_settings]
        return [trial.score for trial in trials if trial is not None]


@pytest.mark.parametrize("stops", [[6], [1, 4, 11], [22]])
def test_a_stopped_search_goes_on(
    stops: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in the middle of a batch, whose trials do not end in their order."""
    vocab = blank().vocab
    corpus = tmp_path / "train.spacy"
    DocBin(docs=[gold_doc(vocab, *sentence) for sentence in SENTENCES]).to_disk(corpus)
    task = Task(PROJECT / "configs/memb.cfg", {}, corpus, corpus, 3, "ents_f")
    searcher = partial(sampling.search, trials=26, batch=4)

    def run(training: Training, name: str) -> object:
        monkeypatch.setattr(searches, "run_trials", training.run_trials)
        return tune(
            task, together(SEARCHES), tmp_path / name, searcher=searcher, processes=4, done=print
        )

    whole = Training(1000)
    expected = run(whole, "whole.jsonl")
    trained = []
    for most in stops:
        training = Training(most)
        with pytest.raises(KeyboardInterrupt):
            run(training, "stopped.jsonl")
        trained += training.trained
    training = Training(1000)
    assert run(training, "stopped.jsonl") == expected
    trained += training.trained
    assert trained == whole.trained
    assert len(set(trained)) == len(trained) == 26
