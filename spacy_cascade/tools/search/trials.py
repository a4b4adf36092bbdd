"""Trials of a training config with different settings, run in processes and recorded on disk."""

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab
from thinc.api import Config

from ...errors import ConfigError, CorpusError, TrainingError
from ...files import replace_file, replace_folder, temporary_folder
from ...parallel import available_cores
from ...pipeline.readers import examples_for, read_docs
from ...processes import run_in_processes
from ...types import Json
from ...workflows.folds import check_folds, train_pipeline, trainer_blocks, with_threads
from ...workflows.jackknife import read_config
from ..recipes.settings import with_settings
from .noise import count_outcomes

Settings = Mapping[str, Json]
"""Values by their dotted names in a config; a value can be a whole section."""


@dataclass(frozen=True)
class Task:
    """What all trials have in common.

    config: file of a training config. overrides: its changed settings. train, dev: corpora;
    without dev, each of the folds of train is scored by a pipeline that was trained on the others.
    score: name of the score to maximise. pipelines: a folder where the pipeline of each trial is
    kept, that of the first fold if there are folds.
    """

    config: Path
    overrides: Mapping[str, Any]
    train: Path
    dev: Path | None
    folds: int
    score: str
    pipelines: Path | None = None

    def fingerprint(self) -> str:
        """A digest of the task, so that no trial of another task is reused."""
        digest = hashlib.sha256()
        for path in (self.config, self.train, self.dev):
            digest.update(b"-" if path is None else hashlib.sha256(path.read_bytes()).digest())
        rest = [dict(self.overrides), 0 if self.dev else self.folds, self.score]
        digest.update(json.dumps(rest, sort_keys=True, default=str).encode())
        return digest.hexdigest()[:16]

    @staticmethod
    def key_of(settings: Settings) -> str:
        """A name for the settings of a trial, under which its pipeline is kept."""
        return hashlib.sha256(_key(settings).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Trial:
    """The result of some settings: mean score, score of each fold, and duration.

    outcomes: what was found in each sentence that was scored on (`noise.count_outcomes`).
    """

    settings: Settings
    score: float
    parts: list[float]
    seconds: float
    outcomes: list[list[int]] = field(default_factory=list)


def run_trial(task: Task, settings: Settings, threads: int = 1) -> Trial:
    """Train and score with the settings.

    threads: of trainers that have threads; no result depends on it. Raises `ConfigError` for
    settings that are not in the config, and `TrainingError` if the pipeline does not have the
    score.
    """
    begin = time.perf_counter()
    config = with_settings(read_config(task.config, dict(task.overrides)), settings)
    kept = task.pipelines and task.pipelines / task.key_of(settings)
    parts: list[float] = []
    outcomes: list[list[int]] = []
    for docs, dev_path in _parts(task):
        nlp = train_pipeline(with_threads(config, threads), docs, dev_path)
        examples = list(examples_for(nlp, dev_path))
        scores = nlp.evaluate(examples)
        if not isinstance(scores.get(task.score), float):
            known = sorted(name for name, value in scores.items() if isinstance(value, float))
            raise TrainingError(
                f"The pipeline has no score '{task.score}'. Choose one of its scores with --score: "
                f"{', '.join(known)}."
            )
        parts.append(float(scores[task.score]))
        if kept is not None:
            # spaCy's `evaluate` annotates copies.
            found = nlp.pipe(example.predicted for example in examples)
            gold = [example.reference for example in examples]
            outcomes += count_outcomes(gold, found)
            if len(parts) == 1:
                _keep(nlp, config, kept)
    return Trial(dict(settings), fmean(parts), parts, time.perf_counter() - begin, outcomes)


def _keep(nlp: Language, config: Config, folder: Path) -> None:
    """Save the pipeline of a trial as if `spacy train` had trained it by the config."""
    saved = nlp.config.copy()
    for section in ("paths", "system", "corpora", "training", "initialize"):
        if section in config:
            saved[section] = config[section]
    for name, component in saved["components"].items():
        given = trainer_blocks(config["components"].get(name, {}))
        threads = next((block["threads"] for block in given if "threads" in block), 0)
        for block in trainer_blocks(component):
            if "threads" in block:
                block["threads"] = threads

    def fill(path: Path) -> None:
        nlp.to_disk(path)
        saved.to_disk(path / "config.cfg")

    replace_folder(folder, fill)


def _parts(task: Task) -> Iterator[tuple[list[Doc], Path]]:
    """Docs to train on and the file to score on: one pair, or one for each fold."""
    docs = read_docs(task.train, Vocab())
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
        """The result of a trial; None where it was not run."""
        return self._trials.get(_key(settings))

    def add(self, trial: Trial) -> None:
        """Keep the result of a trial, on disk at once."""
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
    tick: Callable[[], object] = lambda: None,
) -> list[float]:
    """Scores of all the settings, from the archive or from new trials, which are added to it.

    processes: number of trials that run at the same time. done: called after each new trial.
    tick: called about once a second while they run.
    """
    new = list({_key(s): s for s in all_settings if archive.get(s) is None}.values())
    if processes < 1:
        raise ConfigError(f"Trials need at least 1 process, not {processes}. Check --processes.")
    if new:
        threads = max(1, available_cores() // min(processes, len(new)))
        arguments = [(task, settings, threads) for settings in new]
        for trial in run_in_processes(run_trial, arguments, processes, tick):
            archive.add(trial)
            done(trial)
    found = [archive.get(settings) for settings in all_settings]
    return [trial.score for trial in found if trial is not None]
