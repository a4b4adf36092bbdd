"""The best of a few trainings, in processes and recorded on disk: `spacy cascade init --auto`."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from thinc.api import Config

from ...errors import ConfigError
from ...files import replace_file, replace_folder
from ...locking import lock_folder
from ...parallel import available_cores
from ...processes import run_in_processes
from ..recipes.deciding import Rules, Variant
from .greedy import Candidate, Search, Step, search_variants
from .trials import Archive, Task, Trial, run_trial, run_trials

TRIALS, START, PIPELINES, BEST = "trials.jsonl", "start.cfg", "pipelines", "model-best"
"""What the folder of a search has, in the order in which it comes to be."""
SCORE = "ents_f"


@dataclass(frozen=True)
class Reports:
    """Called before each round, after each training, about once a second, and after each round.

    A training of an earlier run of the same search is told of, too.
    """

    beginning: Callable[[Sequence[Candidate]], object]
    done: Callable[[Candidate, Trial], object]
    tick: Callable[[], object]
    judged: Callable[[Sequence[Step]], object]


@dataclass(frozen=True)
class AutoSearch:
    """A search for the best config for a corpus.

    start: config of the first training. folder: for trials and the best pipeline; a search that
    was stopped goes on from there. dev: to score on; without it folds of train are scored.
    trainings: the largest number of them, with folds of sets of them. processes: trainings that
    run at the same time.
    """

    start: Config
    variants: Sequence[Variant]
    rules: Rules
    train: Path
    dev: Path | None
    folder: Path
    trainings: int = 5
    folds: int = 3
    processes: int = 1

    def __post_init__(self) -> None:
        if self.trainings < 1:
            raise ConfigError(
                f"There must be 1 training or more, not {self.trainings}. Check --trainings."
            )

    @property
    def at_once(self) -> int:
        """Half of the trainings at most, so that the second half can build on what gained."""
        return max(1, min(self.processes, (self.trainings + 1) // 2))

    @property
    def pipeline(self) -> Path:
        """Where the best pipeline is at the end."""
        return self.folder / BEST

    def run(self, reports: Reports) -> Search:
        """Train, and leave the best pipeline in the folder.

        Ctrl-C ends it as well, with the best pipeline so far. Raises `ConfigError` if another
        process has the folder.
        """
        with lock_folder(self.folder):
            return self._run(reports)

    def _run(self, reports: Reports) -> Search:
        replace_file(self.folder / START, self.start.to_bytes())
        task = Task(
            self.folder / START, {}, self.train, self.dev, self.folds, SCORE,
            self.folder / PIPELINES,
        )  # fmt: skip
        archive = Archive(self.folder / TRIALS, task.fingerprint())

        def run(candidates: Sequence[Candidate]) -> None:
            reports.beginning(candidates)
            settings = [candidate.settings for candidate in candidates]
            names = {task.key_of(candidate.settings): candidate for candidate in candidates}

            def done(trial: Trial) -> None:
                reports.done(names[task.key_of(trial.settings)], trial)

            for earlier in filter(None, map(archive.get, settings)):
                done(earlier)
            run_trials(task, settings, archive, self.at_once, done, reports.tick)

        search = search_variants(
            self.start, self.variants, self.rules,
            budget=self.trainings, at_once=self.at_once, run=run,
            trial_of=lambda candidate: archive.get(candidate.settings), told=reports.judged,
        )  # fmt: skip
        if search.best is not None:
            self._finish(task, search, reports)
        return search

    def _finish(self, task: Task, search: Search, reports: Reports) -> None:
        """Leave the best pipeline alone in the folder."""
        assert search.best is not None
        kept = self.folder / PIPELINES / task.key_of(search.best.settings)
        if not kept.exists() and not search.is_stopped:
            # An earlier run with another budget found another one better, and kept only that.
            with suppress(KeyboardInterrupt):
                run_anew = [(task, search.best.settings, available_cores())]
                list(run_in_processes(run_trial, run_anew, 1, reports.tick))
        if not kept.exists():
            return
        replace_folder(
            self.pipeline, lambda place: shutil.copytree(kept, place, dirs_exist_ok=True)
        )
        for folder in kept.parent.iterdir():
            if folder != kept:
                shutil.rmtree(folder, ignore_errors=True)
