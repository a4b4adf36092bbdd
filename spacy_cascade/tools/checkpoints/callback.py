"""Checkpoints of `spacy train`, and training that goes on from them.

spaCy's loop always begins with its first step and keeps its scores to itself. So training that
goes on from a checkpoint passes through the steps before it once more: it draws the same random
numbers, counts epochs and asks for patience as it did, only that `nlp.update` does nothing and
`nlp.evaluate` gives the scores that there were.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.training import Example
from spacy.training.loop import DIR_MODEL_BEST, DIR_MODEL_LAST
from spacy.util import dict_to_dot, logger

from ...checks import configured
from ...errors import ConfigError, TrainingError
from ...files import remove_leftovers, replace_file
from ...inference.structure import Weights
from ...pipeline.base import CascadePipe, is_learner
from ...pipeline.learning import begin_again, reads_corpus, restore_training, training_state
from ...storage.arrays import Arrays
from ...trainers.base import array_like
from ...trainers.batchers import WHOLE_CORPUS
from .files import Checkpoint, Evaluation, pack, read_checkpoint, reading

_CLOSE = 1e-6
"""How far losses may lie apart, relatively: another machine may round otherwise."""
_FREE = {
    "training": ("max_steps", "max_epochs", "before_update", "before_to_disk", "logger"),
    "corpora": ("path",),
    "components": ("threads", "workers"),
}
"""Options of each section that may be others when training goes on."""
_BEGIN_ANEW = (
    "Train with the same config, corpus and release; or remove the checkpoint, or set resume = "
    "false in [training.before_update], to begin anew."
)
Losses = dict[str, float]


@configured
def make_checkpoints(
    path: str | None, every: int = 1, resume: bool = True
) -> Callable[[Language, dict[str, Any]], None]:
    """Write checkpoints of a training, and go on from the last one where there is one.

    Registered as `spacy_cascade.checkpoints.v1` for `[training.before_update]`. path: the file, of
    this training alone; null for no checkpoints. every: updates from one checkpoint to the next.
    resume: whether to go on from the file; else training begins anew, and soon replaces it.

    Raises `ConfigError` for a setting out of range. Training raises it for other settings than the
    checkpoint's, `TrainingError` for another corpus, and `ModelFileError` for a damaged file.
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
    """What spaCy's loop calls before each update, and in place of `nlp.update` and `evaluate`."""

    def __init__(self, path: Path, every: int, resume: bool) -> None:
        self._path, self._every, self._resume = path, every, resume
        self._where = f"The checkpoint {path}"
        self._step = 0
        self._losses: Losses = {}
        self._batches: dict[int, list[Example]] = {}

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
                replace_file(self._path, pack(now))
        elif step > 0 and step == self._n_passed:
            with reading(self._where):
                self._restore()

    def _begin(self, nlp: Language) -> None:
        check_pipeline(nlp)
        remove_leftovers(self._path)
        self._nlp, origin = nlp, training_fingerprint(nlp)
        saved = read_checkpoint(self._path) if self._resume else None
        if saved is not None:
            check_same(saved.origin, origin, self._where)
            check_end(saved, nlp.config["training"], self._where)
            logger.info("Going on with update %d, from %s", saved.step, self._path)
        self._kept = saved or Checkpoint(origin, 0, 0, [], {}, {}, {}, {})
        self._n_passed = self._kept.step
        self._past = {evaluation.step: evaluation for evaluation in self._kept.evaluations}
        nlp.update, nlp.evaluate = self.update, self.evaluate  # type: ignore[method-assign]

    def _restore(self) -> None:
        """Restore all components, those that began anew meanwhile after the others.

        A component that learns from what earlier ones annotate begins anew whenever that has
        changed. Since then it has not: they annotate the same with the weights restored here.
        """
        begun, pipes = self._kept.begun, dict(trained_pipes(self._nlp))
        later = {name for name in pipes if name in begun and pipes[name].trainer.iterations}
        for name in sorted(pipes, key=later.__contains__):
            if name in later:
                begin_again(pipes[name], self._annotated(self._batches[begun[name]], name))
            restore_training(pipes[name], self._kept.trainings.pop(name))

    def _annotated(self, examples: list[Example], name: str) -> list[Example]:
        """The examples as components before this one annotate them in training."""
        nlp = self._nlp
        earlier = nlp.pipe_names[: nlp.pipe_names.index(name)]
        annotating = nlp.config["training"]["annotating_components"]
        with nlp.select_pipes(enable=[each for each in earlier if each in annotating]):
            docs = list(nlp.pipe([example.predicted.copy() for example in examples]))
        return [Example(doc, each.reference) for doc, each in zip(docs, examples, strict=True)]

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
        losses, step = {} if losses is None else losses, self._step
        if 0 < step < self._n_passed:
            if step in self._kept.begun.values():
                self._batches[step] = list(examples)
            losses.update(self._past[step].losses if step in self._past else {})
            return losses
        if step == self._n_passed:
            losses.update({n: v for n, v in self._kept.losses.items() if n not in losses})
        self._losses = losses
        pipes = dict(trained_pipes(self._nlp))
        fits = {name: pipe._fit for name, pipe in pipes.items()}
        type(self._nlp).update(self._nlp, examples, *more, losses=losses, **options)
        if step > 0:
            begun = [name for name, pipe in pipes.items() if pipe._fit is not fits[name]]
            self._kept.begun.update(dict.fromkeys(begun, step))
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
                    f"{loss} for '{name}', and now has {now}. {_BEGIN_ANEW}"
                )


def _learnt(pipe: CascadePipe) -> Arrays:
    """What a saved component has of training."""
    pipe.sync_curvature()
    diagonal = pipe.model.attrs["hessian_diagonal"]
    return {**pipe.weights._asdict(), **({} if diagonal is None else {"hessian": diagonal})}


def _show(pipe: CascadePipe, learnt: Arrays) -> None:
    """Have a component save and predict what was learnt, which has to fit its own weights."""
    own = pipe.weights._asdict()
    weights = Weights(**{name: array_like(own[name], learnt[name]) for name in own})
    diagonal = learnt.get("hessian")
    if diagonal is not None:
        diagonal = array_like(weights.features.astype(np.uint8), diagonal)
    pipe.show(weights, diagonal)


def trained_pipes(nlp: Language) -> Iterator[tuple[str, CascadePipe]]:
    """The components that training changes, by name."""
    frozen = nlp.config["training"]["frozen_components"]
    return ((n, pipe) for n, pipe in nlp.pipeline if is_learner(pipe) and n not in frozen)


# What a checkpoint belongs to


def training_fingerprint(nlp: Language) -> dict[str, Any]:
    """What training depends on: the config, by dotted names, and what components begin with.

    The latter is for each component with a linear model, by its name, the SHA-256 of labels,
    features, evidence, lexicons, weights and annotation.
    """
    config = nlp.config.interpolate()
    settings = {
        name: value
        for section in ("nlp", *_FREE)
        for name, value in dict_to_dot({section: config[section]}).items()
        if not set(name.split(".")) & set(_FREE.get(section, ()))
    }
    for name, pipe in nlp.pipeline:
        if isinstance(pipe, CascadePipe):
            annotation = str(getattr(pipe, "_annotation_read", 0)).encode()
            settings[name] = sha256(pipe.to_bytes(exclude=["cfg"]) + annotation).hexdigest()
    known: dict[str, Any] = json.loads(json.dumps(settings, default=str))
    return known


def check_same(saved: Mapping[str, Any], now: Mapping[str, Any], where: str) -> None:
    """Raise an error that names where a checkpoint belongs to another training than this one."""
    for name in [*saved, *now]:
        if name in saved and name in now and saved[name] == now[name]:
            continue
        section, _, option = name.rpartition(".")
        if not section:
            raise TrainingError(
                f"{where} belongs to another training: '{name}' began with other labels, features, "
                f"weights or annotation. {_BEGIN_ANEW}"
            )
        was, here = (repr(of[name])[:100] if name in of else "not there" for of in (saved, now))
        raise ConfigError(
            f"{where} belongs to a training with other settings: [{section}] {option} was {was}, "
            f"and is {here} now. {_BEGIN_ANEW}"
        )


def check_end(saved: Checkpoint, training: Mapping[str, Any], where: str) -> None:
    """Raise `ConfigError` for a checkpoint beyond the end of training."""
    for name, reached in (("max_steps", saved.step), ("max_epochs", saved.epoch + 1)):
        if 0 < training[name] < reached:
            raise ConfigError(
                f"{where} was made later than training ends: {name} = {training[name]} in "
                f"[training] is too low, it needs {reached} or more. Raise it. {_BEGIN_ANEW}"
            )


def check_pipeline(nlp: Language) -> None:
    """Raise `ConfigError` for training that cannot go on from a checkpoint."""
    training: Mapping[str, Any] = nlp.config.interpolate()["training"]
    if training["seed"] is None:
        raise ConfigError(
            "Training with checkpoints needs [training] seed, so that the corpus is shuffled in "
            "the same way when it goes on. Set it to a number."
        )
    is_whole = training["batcher"]["@batchers"] == WHOLE_CORPUS
    is_whole = is_whole and training["accumulate_gradient"] == 1
    for name, pipe in nlp.pipeline:
        if name in training["frozen_components"] or not getattr(pipe, "is_trainable", False):
            continue
        what, advice = "is trained, too", "train it by itself"
        if is_learner(pipe):
            sees_all = pipe.trainer.sees_all
            if reads_corpus(pipe) or (is_whole if sees_all else not pipe.warm_start):
                continue
            what = f"collects {'features' if pipe.warm_start else 'examples'} batch by batch"
            advice = (
                f'give it an L-BFGS trainer, @batchers = "{WHOLE_CORPUS}" in [training.batcher] '
                "and accumulate_gradient = 1 in [training]"
            )
        raise ConfigError(
            f"'{name}' {what}, and checkpoints do not hold what it goes on from. Put it into "
            f"frozen_components of [training], {advice}, or take the checkpoints out of "
            "[training.before_update]."
        )
