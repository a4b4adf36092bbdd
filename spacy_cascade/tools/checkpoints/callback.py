"""Checkpoints of `spacy train`, and training that goes on from them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.training.loop import DIR_MODEL_BEST, DIR_MODEL_LAST
from spacy.util import logger

from ...errors import ConfigError
from ...files import remove_leftovers
from ...pipeline.learning import restore_training, training_state
from .files import Checkpoint, History, read_checkpoint, reading, write_checkpoint
from .fingerprint import check_pipeline, check_same, trained_pipes, training_fingerprint
from .header import randomness, restore_randomness
from .step_replay import StepReplay

NAME = "spacy_cascade.checkpoints.v1"


def make_checkpoints(
    path: str | None, every: int = 1, resume: bool = True
) -> Callable[[Language, dict[str, Any]], None]:
    """Write checkpoints of a training, and go on from the last one where there is one.

    Registered as `spacy_cascade.checkpoints.v1` for `[training.before_update]`. path: the file,
    which `spacy train` must not delete and no other training may use; null for no checkpoints.
    every: updates from one checkpoint to the next. resume: whether to go on from the file; else
    training begins anew, and soon replaces it.

    Raises `ConfigError` for a setting out of range. Training itself raises it where it has other
    settings than the checkpoint or cannot go on from one at all, `TrainingError` for another
    corpus, and `ModelFileError` for a damaged file.
    """
    if every < 1:
        raise ConfigError(
            f"Checkpoints need every >= 1, not {every}. Mend [training.before_update]."
        )
    if path is None:
        return lambda nlp, position: None
    deleted = {DIR_MODEL_BEST, DIR_MODEL_LAST} & set(Path(path).parts)
    if deleted:
        raise ConfigError(
            f"The checkpoint {path} lies in {deleted.pop()}, which spaCy deletes when training "
            "begins. Give another path in [training.before_update]."
        )
    return Checkpoints(Path(path), every, resume)


class Checkpoints:
    """What spaCy's loop calls before each update (see `make_checkpoints`)."""

    def __init__(self, path: Path, every: int, resume: bool) -> None:
        self._path = path
        self._where = f"The checkpoint {path}"
        self._every = every
        self._resume = resume
        self._saved: Checkpoint | None = None

    def __call__(self, nlp: Language, position: dict[str, Any]) -> None:
        """Restore, write, or do nothing. position: the `step` and `epoch` of the update."""
        step = position["step"]
        if step == 0:
            self._begin(nlp)
        self._course.begin(step)
        if self._saved is not None:
            if step == self._saved.step:
                self._restore(nlp, self._saved)
                self._saved = None
        elif step > 0 and step % self._every == 0:
            self._write(nlp, step, position["epoch"])

    def _begin(self, nlp: Language) -> None:
        check_pipeline(nlp)
        remove_leftovers(self._path)
        self._origin = training_fingerprint(nlp)
        self._saved = saved = read_checkpoint(self._path) if self._resume else None
        if saved is not None:
            check_same(saved.origin, self._origin, self._where)
            _check_position(saved, nlp.config["training"], self._where)
            logger.info("Going on with update %d, from %s", saved.step, self._path)
        history, n_passed = (saved.history, saved.step) if saved else (History(), 0)
        self._course = StepReplay(nlp, history, n_passed, self._where)

    def _write(self, nlp: Language, step: int, epoch: int) -> None:
        trainings = {name: training_state(pipe) for name, pipe in trained_pipes(nlp)}
        checkpoint = Checkpoint(
            step, epoch, self._origin, self._course.history, randomness(), trainings
        )
        write_checkpoint(self._path, checkpoint)

    def _restore(self, nlp: Language, saved: Checkpoint) -> None:
        with reading(self._where):
            for name, pipe in trained_pipes(nlp):
                restore_training(pipe, saved.trainings[name])
            restore_randomness(saved.randomness)


def _check_position(saved: Checkpoint, training: dict[str, Any], where: str) -> None:
    """Raise an error for a checkpoint beyond the end of training, or without its evaluations."""
    for name, reached, end in (
        ("max_steps", saved.step, training["max_steps"]),
        ("max_epochs", saved.epoch + 1, training["max_epochs"]),
    ):
        if 0 < end < reached:
            raise ConfigError(
                f"{where} was made later than training ends: {name} = {end} in [training] is too "
                f"low, it needs {reached} or more. Raise it, or begin anew with resume = false in "
                "[training.before_update]."
            )
    with reading(where):
        steps = [evaluation.step for evaluation in saved.history.evaluations]
        expected = range(0, saved.step, training["eval_frequency"])
        if not len(steps) == len(expected) > 0 or steps != list(expected):
            raise ValueError("its evaluations are not those of its training")
