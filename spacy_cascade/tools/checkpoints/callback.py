"""Checkpoints of `spacy train`, and training that goes on from them.

spaCy's loop always begins with its first step and keeps its scores to itself. So training that
goes on from a checkpoint passes through the steps before it once more: it draws the same random
numbers, counts epochs and asks for patience as it did, only that `nlp.update` does nothing and
`nlp.evaluate` gives the scores that there were.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.training import Example
from spacy.training.loop import DIR_MODEL_BEST, DIR_MODEL_LAST
from spacy.util import logger

from ...errors import ConfigError, TrainingError
from ...files import remove_leftovers
from ...inference.structure import Weights
from ...pipeline.base import CascadePipe
from ...pipeline.learning import restore_training, training_state
from ...storage.arrays import Arrays
from ...trainers.base import array_like
from .files import Checkpoint, Evaluation, read_checkpoint, reading, write_checkpoint
from .fingerprint import (
    BEGIN_ANEW,
    check_pipeline,
    check_same,
    trained_pipes,
    training_fingerprint,
)

_CLOSE = 1e-6
"""How far losses may lie apart, relatively: another machine may round otherwise."""
Losses = dict[str, float]


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
    """What spaCy's loop calls before each update, and in place of `nlp.update` and `evaluate`.

    The arguments are those of `make_checkpoints`.
    """

    def __init__(self, path: Path, every: int, resume: bool) -> None:
        self._path, self._every, self._resume = path, every, resume
        self._where = f"The checkpoint {path}"
        self._step = 0
        self._losses: Losses = {}

    def __call__(self, nlp: Language, position: dict[str, Any]) -> None:
        """Restore, write, or do nothing. position: the `step` and `epoch` of the update."""
        self._step = step = position["step"]
        if step == 0:
            self._begin(nlp)
        if step > self._n_passed:
            self._note(step - 1)
            if step % self._every == 0:
                states = {name: training_state(pipe) for name, pipe in trained_pipes(nlp)}
                now = replace(self._kept, step=step, epoch=position["epoch"], trainings=states)
                write_checkpoint(self._path, now)
        elif step > 0 and step == self._n_passed:
            self._restore()

    def _restore(self) -> None:
        with reading(self._where):
            for name, pipe in trained_pipes(self._nlp):
                restore_training(pipe, self._kept.trainings.pop(name))

    def _begin(self, nlp: Language) -> None:
        check_pipeline(nlp)
        remove_leftovers(self._path)
        self._nlp = nlp
        origin = training_fingerprint(nlp)
        saved = read_checkpoint(self._path) if self._resume else None
        if saved is not None:
            check_same(saved.origin, origin, self._where)
            check_end(saved, nlp.config["training"], self._where)
            logger.info("Going on with update %d, from %s", saved.step, self._path)
        self._kept = saved or Checkpoint(origin, 0, 0, [], {}, {}, {})
        self._n_passed = self._kept.step
        self._past = {evaluation.step: evaluation for evaluation in self._kept.evaluations}
        nlp.update = self.update  # type: ignore[method-assign]
        nlp.evaluate = self.evaluate  # type: ignore[method-assign]

    def _note(self, step: int) -> None:
        """Keep what came of a step."""
        self._kept.losses = dict(self._losses)
        weights = self._nlp.config["training"]["score_weights"]
        if step in self._past and self._kept.best_step(weights) == step:
            self._kept.best = {name: _learnt(pipe) for name, pipe in trained_pipes(self._nlp)}

    def update(
        self, examples: Iterable[Example], *more: Any, losses: Losses | None = None, **options: Any
    ) -> Losses:
        """`nlp.update`; where it was made before only its losses.

        The first one is always made: components then prepare for the corpus, and whether it is
        the same as before is seen by the losses.
        """
        losses = {} if losses is None else losses
        if 0 < self._step < self._n_passed:
            losses.update(self._past[self._step].losses if self._step in self._past else {})
            return losses
        if self._step == self._n_passed:
            losses.update({n: v for n, v in self._kept.losses.items() if n not in losses})
        self._losses = losses
        type(self._nlp).update(self._nlp, examples, *more, losses=losses, **options)
        return losses

    def evaluate(self, examples: Iterable[Example], **options: Any) -> dict[str, Any]:
        """`nlp.evaluate`; where it was made before only its scores."""
        step = self._step
        if step >= self._n_passed:
            scores = type(self._nlp).evaluate(self._nlp, examples, **options)
            self._past[step] = Evaluation(step, dict(self._losses), scores)
            self._kept.evaluations.append(self._past[step])
            self._losses = {}
            return scores
        with reading(self._where):
            past = self._past[step]
            if step == 0:
                self._check_losses(past.losses)
                # The words and labels that evaluation meets are in the vocabulary that is saved.
                list(self._nlp.pipe([example.predicted.copy() for example in examples]))
                # All that spaCy saves from here on is at the best step, or soon replaced.
                for name, pipe in trained_pipes(self._nlp):
                    _show(pipe, self._kept.best[name])
        return past.scores

    def _check_losses(self, expected: Losses) -> None:
        for name, loss in expected.items():
            now = self._losses.get(name, math.nan)
            if not math.isclose(now, loss, rel_tol=_CLOSE, abs_tol=_CLOSE):
                raise TrainingError(
                    f"{self._where} belongs to another training: the first update had a loss of "
                    f"{loss} for '{name}', and now has {now}. {BEGIN_ANEW}"
                )


def check_end(saved: Checkpoint, training: dict[str, Any], where: str) -> None:
    """Raise `ConfigError` for a checkpoint beyond the end of training."""
    for name, reached in (("max_steps", saved.step), ("max_epochs", saved.epoch + 1)):
        if 0 < training[name] < reached:
            raise ConfigError(
                f"{where} was made later than training ends: {name} = {training[name]} in "
                f"[training] is too low, it needs {reached} or more. Raise it, or begin anew with "
                "resume = false in [training.before_update]."
            )


def _learnt(pipe: CascadePipe) -> Arrays:
    """What a saved component has of training."""
    pipe.sync_curvature()
    weights, transitions = pipe.weights
    diagonal = pipe.model.attrs["hessian_diagonal"]
    known = {} if diagonal is None else {"hessian_diagonal": diagonal}
    return {"weights": weights, "transitions": transitions, **known}


def _show(pipe: CascadePipe, learnt: Arrays) -> None:
    """Have a component save and predict what was learnt, which has to fit its own weights."""
    weights, transitions = (
        array_like(own, learnt[name])
        for name, own in zip(("weights", "transitions"), pipe.weights, strict=True)
    )
    diagonal = learnt.get("hessian_diagonal")
    if diagonal is not None:
        diagonal = array_like(weights.astype(np.uint8), diagonal)
    pipe.show(Weights(weights, transitions), diagonal)
