"""Searches of a few trainings on disk, with real trainings on a tiny corpus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import spacy
from spacy.training import Corpus
from thinc.api import Config

from spacy_cascade import ConfigError
from spacy_cascade.locking import lock_folder
from spacy_cascade.tools.recipes import Choices, make_config
from spacy_cascade.tools.recipes.deciding import Variant
from spacy_cascade.tools.recipes.rules import BY_CORPUS
from spacy_cascade.tools.recipes.settings import with_settings
from spacy_cascade.tools.search import auto
from spacy_cascade.tools.search.auto import AutoSearch, Reports
from spacy_cascade.tools.search.greedy import START, Candidate
from spacy_cascade.tools.search.trials import Archive, Settings, Task, Trial

EVERY = Variant("every feature", {"min_count": 1}, "the corpus is tiny")
NARROW = Variant("hardly any weight", {"sigma": 0.001}, "to lose")


class Told:
    """What a search reports."""

    def __init__(self) -> None:
        self.begun: list[list[str]] = []
        self.done: list[tuple[str, float]] = []
        self.ticks = 0

    def reports(self) -> Reports:
        return Reports(self._begin, self._done, self._tick, lambda steps: None)

    def _begin(self, candidates: Sequence[Candidate]) -> None:
        self.begun.append([candidate.name for candidate in candidates])

    def _done(self, candidate: Candidate, trial: Trial) -> None:
        self.done.append((candidate.name, trial.score))

    def _tick(self) -> None:
        self.ticks += 1


def make(corpus: Path, folder: Path, variants: Sequence[Variant], **settings: object) -> AutoSearch:
    start = with_settings(
        make_config(Choices(train=corpus, dev=corpus, no_words=True)), {"training.max_steps": 2}
    )
    options: dict[str, object] = {"dev": corpus, "trainings": 2, **settings}
    return AutoSearch(start, variants, BY_CORPUS, corpus, folder=folder, **options)  # type: ignore[arg-type]


def f1(pipeline: Path, corpus: Path) -> float:
    nlp = spacy.load(pipeline)
    return nlp.evaluate(list(Corpus(corpus)(nlp)))["ents_f"]


@pytest.mark.slow(kind="searches")
def test_a_planted_setting_is_found_and_its_pipeline_kept(corpus: Path, tmp_path: Path) -> None:
    """With features that occur five times nothing is found in six sentences."""
    folder, told = tmp_path / "out", Told()
    search = make(corpus, folder, [EVERY, NARROW], trainings=3)
    found = search.run(told.reports())
    assert found.best is not None
    assert set(found.best.settings.values()) == {1}
    assert found.best.score == f1(search.pipeline, corpus) == 1.0
    assert [name for name, _ in told.done] == ["the choice of the rules", EVERY.name, NARROW.name]
    assert [step.is_kept for step in found.steps] == [True, True, False]
    assert sum(map(len, told.begun)) == 3
    saved = spacy.util.load_config(search.pipeline / "config.cfg")
    for section in ("paths", "corpora", "training"):
        assert saved[section] == search.start[section]
    assert saved["components"]["cascade_segmenter"]["trainer"]["threads"] == 0
    assert len(list((folder / "pipelines").iterdir())) == 1

    # The same search again has nothing to train; with a larger budget, what is new.
    again = Told()
    assert make(corpus, folder, [EVERY, NARROW], trainings=3).run(again.reports()).steps == (
        found.steps
    )
    assert again.ticks == 0
    lines = (folder / "trials.jsonl").read_text().count("\n")
    assert lines == 3
    more = make(corpus, folder, [EVERY, NARROW, Variant("x", {"kappa": 1.0}, "")], trainings=4)
    more.run(Told().reports())
    assert (folder / "trials.jsonl").read_text().count("\n") == lines + 1


@pytest.mark.slow(kind="searches")
def test_a_best_pipeline_that_is_lost_is_trained_again(corpus: Path, tmp_path: Path) -> None:
    search = make(corpus, tmp_path / "out", [EVERY])
    found = search.run(Told().reports())
    assert found.best is not None
    kept = tmp_path / "out" / "pipelines"
    for folder in kept.iterdir():
        folder.rename(tmp_path / "gone")
    assert search.run(Told().reports()).steps == found.steps
    assert len(list(kept.iterdir())) == 1
    assert f1(search.pipeline, corpus) == 1.0


def test_trainings_of_an_earlier_run_are_told_of_again(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: list[Settings] = []

    def run_trials(
        task: Task, wanted: Sequence[Settings], archive: Archive, processes: int,
        done: Callable[[Trial], object], tick: Callable[[], object],
    ) -> None:  # fmt: skip
        for settings in wanted:
            if archive.get(settings) is None:
                assert task.pipelines is not None
                (task.pipelines / task.key_of(settings)).mkdir(parents=True)
                trained.append(settings)
                archive.add(Trial(settings, len(trained) / 10, [], 1.0))
                done(Trial(settings, len(trained) / 10, [], 1.0))

    monkeypatch.setattr(auto, "run_trials", run_trials)
    for _ in range(2):
        told = Told()
        make(corpus, tmp_path, [EVERY, NARROW], trainings=3).run(told.reports())
        assert told.done == [(START, 0.1), (EVERY.name, 0.2), (NARROW.name, 0.3)]
    assert len(trained) == 3
    (kept,) = (tmp_path / "pipelines").iterdir()
    assert kept.name == Task.key_of(trained[-1])


def test_a_folder_has_one_search(corpus: Path, tmp_path: Path) -> None:
    search = make(corpus, tmp_path, [EVERY])
    with lock_folder(tmp_path), pytest.raises(ConfigError, match="Another run is at work in"):
        search.run(Told().reports())
    assert not (tmp_path / "start.cfg").exists()


def test_trainings_at_the_same_time(tmp_path: Path) -> None:
    """At most half of them, so that the second half can build on the first."""
    search = AutoSearch(Config(), [], BY_CORPUS, tmp_path, None, tmp_path)
    sizes = [
        replace(search, trainings=trainings, processes=processes).at_once
        for trainings, processes in ((5, 1), (5, 2), (5, 8), (1, 8), (8, 8))
    ]
    assert sizes == [1, 2, 3, 1, 4]
    with pytest.raises(ConfigError, match="1 training or more, not 0"):
        replace(search, trainings=0)
