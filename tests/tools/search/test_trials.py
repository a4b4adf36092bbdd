"""Trials on disk, and which of them are run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
import spacy
from spacy.util import load_config

from helpers import PROJECT, SENTENCES, blank, gold_doc
from spacy_cascade import ConfigError, CorpusError, TrainingError
from spacy_cascade.tools.search import trials as module
from spacy_cascade.tools.search.noise import count_outcomes
from spacy_cascade.tools.search.quadrants import Axis
from spacy_cascade.tools.search.searches import default_searches, read_axis, tune
from spacy_cascade.tools.search.trials import Archive, Task, Trial, run_trial
from spacy_cascade.workflows.jackknife import read_config

MEMB = PROJECT / "configs/memb.cfg"
SIGMA = default_searches(read_config(MEMB))["cascade_segmenter"][0].name
OVERRIDES = {
    "components.cascade_segmenter.model.min_count": 1,
    "components.cascade_classifier.model.min_count": 1,
    "training.max_steps": 1,
}


@pytest.fixture
def task(corpus: Path) -> Task:
    return Task(PROJECT / "configs/memb.cfg", OVERRIDES, corpus, corpus, 3, "ents_f")


@pytest.mark.slow(kind="searches")
def test_a_trial_trains_and_scores(task: Task) -> None:
    trial = run_trial(task, {SIGMA: 1.0})
    assert trial.settings == {SIGMA: 1.0}
    assert trial.parts == [trial.score] == [1.0]
    hardly = run_trial(task, {SIGMA: 0.001})
    assert hardly.score < trial.score


@pytest.mark.slow(kind="searches")
def test_folds_are_scored_by_what_has_not_seen_them(task: Task) -> None:
    folded = replace(task, dev=None, score="segments_f")
    trial = run_trial(folded, {SIGMA: 1.0})
    assert len(trial.parts) == 3
    assert trial.score == pytest.approx(sum(trial.parts) / 3)
    assert trial.score < 1.0


@pytest.mark.slow(kind="searches")
def test_a_kept_pipeline_has_the_config_that_was_given(task: Task, tmp_path: Path) -> None:
    """It names the corpora of the user, and no threads of the trial; that of the first fold."""
    given = read_config(MEMB)
    del given["components"]["cascade_classifier"]["trainer"]["threads"]
    given["initialize"] = {"tokenizer": {}}
    given.to_disk(tmp_path / "given.cfg")
    more = {"components.cascade_segmenter.trainer.threads": 3, "paths.train": "mine.spacy"}
    own = replace(
        task, config=tmp_path / "given.cfg", overrides={**OVERRIDES, **more}, dev=None, folds=2,
        score="segments_f", pipelines=tmp_path / "kept",
    )  # fmt: skip
    trial = run_trial(own, {SIGMA: 1.0}, threads=2)
    kept = tmp_path / "kept" / Task.key_of({SIGMA: 1.0})
    saved, config = load_config(kept / "config.cfg"), read_config(own.config, own.overrides)
    for section in ("paths", "system", "corpora", "training", "initialize"):
        assert saved[section] == config[section], section
    threads = [component["trainer"]["threads"] for component in saved["components"].values()]
    assert threads == [3, 0]
    assert saved["components"]["cascade_segmenter"]["penalty"]["sigma"] == 1.0
    assert len(trial.outcomes) == len(SENTENCES)
    first = [gold_doc(blank().vocab, text, spans) for text, spans in SENTENCES[::2]]
    found = spacy.load(kept).pipe(doc.text for doc in first)
    assert count_outcomes(first, found) == trial.outcomes[: len(first)]


def test_settings_and_scores_that_are_not_there(task: Task) -> None:
    with pytest.raises(TrainingError, match=r"no score 'dep_las'. Choose .*ents_f"):
        run_trial(replace(task, score="dep_las"), {})
    with pytest.raises(ConfigError, match="too few for 30 folds"):
        run_trial(replace(task, dev=None, folds=30), {})


def test_the_archive_knows_its_trials_again(tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    archive = Archive(path, "one")
    trials = [Trial({"a": 1, "b": 0.5}, 0.7, [0.7], 1.0), Trial({"a": 2}, 0.8, [0.8], 2.0)]
    for trial in trials:
        archive.add(trial)
    Archive(path, "other").add(Trial({"a": 3}, 0.9, [0.9], 1.0))
    with path.open("a") as file:
        file.write('{"task": "one", "settings": {"a"')  # killed here
    again = Archive(path, "one")
    assert list(again) == trials
    assert again.get({"b": 0.5, "a": 1}) == trials[0]
    assert again.get({"a": 3}) is None
    again.add(Trial({"a": 4}, 0.1, [0.1], 1.0))
    assert len(list(Archive(path, "one"))) == 3
    path.write_text("no trials\n")
    with pytest.raises(CorpusError, match="is not a record of trials"):
        Archive(path, "one")


def test_the_task_is_known_by_all_that_counts(task: Task) -> None:
    folded = replace(task, dev=None)
    others = [
        replace(task, overrides={}), folded, replace(folded, folds=4),
        replace(task, score="ents_p"), replace(task, config=PROJECT / "configs/ocr.cfg"),
    ]  # fmt: skip
    assert len({t.fingerprint() for t in (task, *others)}) == 6
    same = replace(task, overrides=dict(OVERRIDES), folds=9)
    assert same.fingerprint() == task.fingerprint()


class Pool:
    """Runs trials here, counts them, and stops after some."""

    runs: ClassVar[list[dict]] = []
    most: ClassVar[int] = 10**9

    @classmethod
    def run_trials(cls, task, all_settings, archive, processes, done, tick):
        for settings in all_settings:
            if archive.get(settings) is None:
                if len(cls.runs) >= cls.most:
                    raise KeyboardInterrupt
                cls.runs.append(dict(settings))
                sigma = settings[SIGMA]
                archive.add(Trial(dict(settings), -abs(sigma - 0.3), [0.0], 0.0))
        return [archive.get(settings).score for settings in all_settings]


def test_a_stopped_search_goes_on(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from spacy_cascade.tools.search import searches

    axes = {"s": [Axis(SIGMA, 0.05, 1.0)]}
    monkeypatch.setattr(searches, "run_trials", Pool.run_trials)
    Pool.runs, Pool.most = [], 3
    settings = {"rounds": 5, "processes": 1, "done": lambda trial: None}
    with pytest.raises(KeyboardInterrupt):
        tune(task, axes, tmp_path / "t.jsonl", **settings)
    assert len(Pool.runs) == 3
    Pool.most = 100
    chosen, (finished,) = tune(task, axes, tmp_path / "t.jsonl", **settings)
    assert len({str(run) for run in Pool.runs}) == len(Pool.runs)
    assert abs(chosen[SIGMA] - 0.3) < 0.05
    assert chosen[SIGMA] == finished.found.point[0]


@pytest.mark.parametrize(
    ("component", "names"),
    [
        ({"loss": {"kappa": 1.0}, "penalty": {"sigma": 0.5}}, ["penalty.sigma", "loss.kappa"]),
        ({"loss": {"@misc": "x"}, "penalty": {"sigma": 0.5}}, ["penalty.sigma"]),
        ({"loss": {"kappa": 1.0}, "penalty": None}, ["loss.kappa"]),
    ],
)
def test_sigma_and_kappa_are_searched_in_any_block(component: dict, names: list[str]) -> None:
    config = {"nlp": {"pipeline": ["tok2vec", "x"]}, "components": {"x": component, "tok2vec": {}}}
    bounds = {"sigma": (0.02, 2.0, True), "kappa": (0.0, 8.0, False)}
    expected = [Axis(f"components.x.{name}", *bounds[name.split(".")[1]]) for name in names]
    assert default_searches(config) == {"x": expected}


def test_without_sigma_and_kappa() -> None:
    config = {"nlp": {"pipeline": ["x"]}, "components": {"x": {"loss": {}}}}
    with pytest.raises(ConfigError, match="No component of the config has a sigma or kappa"):
        default_searches(config)


@pytest.mark.parametrize(
    ("text", "axis"),
    [
        ("a.b=0.1..2", Axis("a.b", 0.1, 2.0)),
        ("a=1..8", Axis("a", 1, 8, is_integer=True)),
        ("a=1e-3..1.0:log", Axis("a", 0.001, 1.0, is_log=True)),
    ],
)
def test_ranges_in_words(text: str, axis: Axis) -> None:
    assert read_axis(text) == axis


@pytest.mark.parametrize("text", ["a", "a=1", "a=1..b", "=1..2", "a=1..2:exp", "a=2..1"])
def test_ranges_that_make_no_sense(text: str) -> None:
    with pytest.raises(ConfigError):
        read_axis(text)


def test_names_that_are_no_numbers(task: Task, tmp_path: Path) -> None:
    for name in ("components.nobody.x", "training.batcher", "components.cascade_segmenter.typed"):
        searches = {"s": [Axis(name, 0.0, 1.0)]}
        with pytest.raises(ConfigError, match="is not a number in"):
            tune(task, searches, tmp_path / "t", rounds=1, processes=1, done=print)


def test_a_number_of_processes(task: Task, tmp_path: Path) -> None:
    archive = Archive(tmp_path / "t", "x")
    with pytest.raises(ConfigError, match="at least 1 process"):
        module.run_trials(task, [{SIGMA: 1.0}], archive, 0, print)
