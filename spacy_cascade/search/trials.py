"""Trials of a training config with different settings, run in processes and recorded on disk.

The record is our own file and not Optuna's `JournalStorage`, because the search by quadrants has
to work, and to continue after a kill, without Optuna, which is an optional dependency.
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import Any

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..errors import ConfigError, CorpusError, TrainingError
from ..files import replace_file, temporary_folder
from ..pipeline.readers import examples_for
from ..workflows.folds import check_folds, train_pipeline
from ..workflows.jackknife import read_config

Settings = Mapping[str, float | int]
"""Values by their dotted names in a config."""


@dataclass(frozen=True)
class Task:
    """What all trials have in common.

    config: file of a training config. overrides: its changed settings. train, dev: corpora;
    without dev, each of the folds of train is scored by a pipeline that was trained on the others.
    score: name of the score to maximise.
    """

    config: Path
    overrides: Mapping[str, Any]
    train: Path
    dev: Path | None
    folds: int
    score: str

    def fingerprint(self) -> str:
        """A digest of the task, so that no trial of another task is reused."""
        digest = hashlib.sha256()
        for path in (self.config, self.train, self.dev):
            digest.update(b"-" if path is None else hashlib.sha256(path.read_bytes()).digest())
        rest = [dict(self.overrides), 0 if self.dev else self.folds, self.score]
        digest.update(json.dumps(rest, sort_keys=True, default=str).encode())
        return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Trial:
    """The result of some settings: mean score, score of each fold, and duration."""

    settings: Settings
    score: float
    parts: list[float]
    seconds: float


def run_trial(task: Task, settings: Settings) -> Trial:
    """Train and score with the settings.

    Raises `ConfigError` for settings that are not in the config, and `TrainingError` if the
    pipeline does not have the score.
    """
    begin = time.perf_counter()
    config = read_config(task.config, {**task.overrides, **settings})
    for component in config.get("components", {}).values():
        if "threads" in component.get("trainer", {}):
            component["trainer"]["threads"] = 1  # because trials share the cores
    parts = []
    for docs, dev_path in _parts(task):
        nlp = train_pipeline(config, docs, dev_path)
        scores = nlp.evaluate(list(examples_for(nlp, dev_path)))
        if not isinstance(scores.get(task.score), float):
            known = sorted(name for name, value in scores.items() if isinstance(value, float))
            raise TrainingError(
                f"The pipeline has no score '{task.score}'. Choose one of its scores with --score: "
                f"{', '.join(known)}."
            )
        parts.append(float(scores[task.score]))
    return Trial(dict(settings), fmean(parts), parts, time.perf_counter() - begin)


def _parts(task: Task) -> Iterator[tuple[list[Doc], Path]]:
    """Docs to train on and the file to score on: one pair, or one for each fold."""
    docs = list(DocBin().from_disk(task.train).get_docs(Vocab()))
    if task.dev is not None:
        yield docs, task.dev
        return
    check_folds(len(docs), task.folds, task.train)
    with temporary_folder() as folder:
        for fold in range(task.folds):
            path = folder / f"fold{fold}.spacy"
            DocBin(docs=docs[fold :: task.folds], store_user_data=True).to_disk(path)
            yield [doc for i, doc in enumerate(docs) if i % task.folds != fold], path


class Archive:
    """The trials of a task, recorded in a file of JSON lines, so a stopped search can continue.

    Trials of other tasks stay in the file and are ignored. Raises `CorpusError` for any other
    file.
    """

    def __init__(self, path: Path, fingerprint: str) -> None:
        self._path = path
        self._fingerprint = fingerprint
        self._trials: dict[str, Trial] = {}
        lines = path.read_text(encoding="utf8").splitlines(keepends=True) if path.exists() else []
        # The last line may be incomplete if a process was killed while it wrote the line.
        whole = [line for line in lines if line.endswith("\n")]
        try:
            for entry in map(json.loads, whole):
                if entry.pop("task") == fingerprint:
                    self._keep(Trial(**entry))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CorpusError(
                f"{path} is not a record of trials: {error}. Move it, or choose another folder."
            ) from error
        if len(whole) < len(lines):
            replace_file(path, "".join(whole).encode("utf8"))

    def __iter__(self) -> Iterator[Trial]:
        return iter(self._trials.values())

    def get(self, settings: Settings) -> Trial | None:
        return self._trials.get(_key(settings))

    def add(self, trial: Trial) -> None:
        line = json.dumps({"task": self._fingerprint, **asdict(trial)}) + "\n"
        before = self._path.read_bytes() if self._path.exists() else b""
        replace_file(self._path, before + line.encode("utf8"))
        self._keep(trial)

    def _keep(self, trial: Trial) -> None:
        self._trials[_key(trial.settings)] = trial


def _key(settings: Settings) -> str:
    return json.dumps(dict(settings), sort_keys=True)


def run_trials(
    task: Task,
    all_settings: Sequence[Settings],
    archive: Archive,
    processes: int,
    done: Callable[[Trial], object],
) -> list[float]:
    """Scores of all the settings, from the archive or from new trials, which are added to it.

    processes: number of trials that run at the same time. done: called after each new trial.
    """
    new = list({_key(s): s for s in all_settings if archive.get(s) is None}.values())
    if processes < 1:
        raise ConfigError(f"Trials need at least 1 process, not {processes}. Check --processes.")
    if new:
        # Spawned, because the threads of kernels do not survive a fork.
        with ProcessPoolExecutor(min(processes, len(new)), get_context("spawn")) as pool:
            futures = [pool.submit(run_trial, task, settings) for settings in new]
            try:
                for future in as_completed(futures):
                    archive.add(future.result())
                    done(future.result())
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    found = [archive.get(settings) for settings in all_settings]
    return [trial.score for trial in found if trial is not None]
