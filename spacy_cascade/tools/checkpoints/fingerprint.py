"""What a checkpoint belongs to: the settings of a training, and what it began with."""

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from spacy.language import Language
from spacy.util import dict_to_dot

from ...errors import ConfigError, TrainingError
from ...pipeline.base import CascadePipe, is_learner
from ...pipeline.learning import reads_corpus
from ...trainers.batchers import WHOLE_CORPUS

_FREE = {
    "training": ("max_steps", "max_epochs", "before_update", "before_to_disk", "logger"),
    "corpora": ("path",),
    "components": ("threads", "workers"),
}
"""Options of each section that may be others when training goes on."""
BEGIN_ANEW = (
    "Train with the same config, corpus and release; or remove the checkpoint, or set resume = "
    "false in [training.before_update], to begin anew."
)


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
        if section:
            before, here = (
                repr(each[name])[:100] if name in each else "not there" for each in (saved, now)
            )
            raise ConfigError(
                f"{where} belongs to a training with other settings: [{section}] {option} was "
                f"{before}, and is {here} now. {BEGIN_ANEW}"
            )
        raise TrainingError(
            f"{where} belongs to another training: '{name}' began with other labels, features, "
            f"weights or annotation. {BEGIN_ANEW}"
        )


def trained_pipes(nlp: Language) -> Iterator[tuple[str, CascadePipe]]:
    frozen = nlp.config["training"]["frozen_components"]
    for name, pipe in nlp.pipeline:
        if is_learner(pipe) and name not in frozen:
            yield name, pipe


def check_pipeline(nlp: Language) -> None:
    """Raise `ConfigError` for training that cannot go on from a checkpoint."""
    training: Mapping[str, Any] = nlp.config.interpolate()["training"]
    if training["seed"] is None:
        raise ConfigError(
            "Training with checkpoints needs [training] seed, so that the corpus is shuffled in "
            "the same way when it goes on. Set it to a number."
        )
    batcher = training["batcher"]["@batchers"]
    is_whole = batcher == WHOLE_CORPUS and training["accumulate_gradient"] == 1
    for name, pipe in nlp.pipeline:
        if name in training["frozen_components"] or not getattr(pipe, "is_trainable", False):
            continue
        if not is_learner(pipe):
            raise ConfigError(
                f"'{name}' is trained, too, and checkpoints do not hold what it goes on from. Put "
                "it into frozen_components of [training], train it by itself, or take the "
                "checkpoints out of [training.before_update]."
            )
        sees_all = pipe.trainer.sees_all
        if (pipe.warm_start or sees_all) and not (reads_corpus(pipe) or (is_whole and sees_all)):
            raise ConfigError(
                f"'{name}' collects {'features' if pipe.warm_start else 'examples'} batch by "
                "batch, and checkpoints do not hold them. Give it an L-BFGS trainer, "
                f'@batchers = "{WHOLE_CORPUS}" in [training.batcher] and accumulate_gradient = 1 '
                "in [training], or take the checkpoints out of [training.before_update]."
            )
