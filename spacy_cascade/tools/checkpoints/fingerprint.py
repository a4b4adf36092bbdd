"""What a checkpoint belongs to: the settings of a training, and what it began with."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from spacy.language import Language
from spacy.util import dict_to_dot

from ...errors import ConfigError, TrainingError
from ...pipeline.base import CascadePipe, is_learner
from ...pipeline.source import reads_corpus
from ...trainers.batchers import WHOLE_CORPUS

_FREE = {
    "training": ("max_steps", "max_epochs", "before_update", "before_to_disk", "logger"),
    "corpora": ("path",),
    "components": ("threads", "workers"),
}
"""Options of each section that may be others when training goes on."""
_MISSING = "not there"
BEGIN_ANEW = (
    "Train with the same config, corpus and release; or remove the checkpoint, or set resume = "
    "false in [training.before_update], to begin anew."
)


@dataclass(frozen=True)
class TrainingFingerprint:
    """What training depends on.

    settings: the config, by dotted names. starts: for each component with a linear model the
    SHA-256 of what it begins with: labels, features, evidence, lexicons, weights and annotation.
    """

    settings: dict[str, Any]
    starts: dict[str, str]


def training_fingerprint(nlp: Language) -> TrainingFingerprint:
    config = nlp.config.interpolate()
    settings = {
        name: value
        for section in ("nlp", *_FREE)
        for name, value in dict_to_dot({section: config[section]}).items()
        if not set(name.split(".")) & set(_FREE.get(section, ()))
    }
    pipes = ((name, pipe) for name, pipe in nlp.pipeline if isinstance(pipe, CascadePipe))
    starts = {name: _start_of(pipe) for name, pipe in pipes}
    return TrainingFingerprint(json.loads(json.dumps(settings, default=str)), starts)


def _start_of(pipe: CascadePipe) -> str:
    annotation = getattr(pipe, "_annotation_read", 0)
    return sha256(pipe.to_bytes(exclude=["cfg"]) + str(annotation).encode()).hexdigest()


def trained_pipes(nlp: Language) -> Iterator[tuple[str, CascadePipe]]:
    frozen = nlp.config["training"]["frozen_components"]
    for name, pipe in nlp.pipeline:
        if is_learner(pipe) and name not in frozen:
            yield name, pipe


def check_same(saved: TrainingFingerprint, now: TrainingFingerprint, where: str) -> None:
    """Raise an error that names where a checkpoint belongs to another training than this one."""
    for name in [*saved.settings, *now.settings]:
        before, here = (o.settings.get(name, _MISSING) for o in (saved, now))
        if before != here:
            section, _, option = name.rpartition(".")
            raise ConfigError(
                f"{where} belongs to a training with other settings: [{section}] {option} was "
                f"{_shown(before)}, and is {_shown(here)} now. {BEGIN_ANEW}"
            )
    for name, digest in saved.starts.items():
        if now.starts.get(name) != digest:
            raise TrainingError(
                f"{where} belongs to another training: '{name}' began with other labels, features, "
                f"weights or annotation. {BEGIN_ANEW}"
            )


def _shown(value: Any) -> str:
    return value if value == _MISSING else repr(value)[:100]


def check_pipeline(nlp: Language) -> None:
    """Raise `ConfigError` for training that cannot go on from a checkpoint."""
    training: Mapping[str, Any] = nlp.config.interpolate()["training"]
    if training["seed"] is None:
        raise ConfigError(
            "Training with checkpoints needs [training] seed, so that the corpus is shuffled in "
            "the same way when it goes on. Set it to a number."
        )
    for name, pipe in nlp.pipeline:
        if name in training["frozen_components"] or not getattr(pipe, "is_trainable", False):
            continue
        if not is_learner(pipe):
            raise ConfigError(
                f"'{name}' is trained, too, and checkpoints do not hold what it goes on from. Put "
                "it into frozen_components of [training], train it by itself, or take the "
                "checkpoints out of [training.before_update]."
            )
        if reads_corpus(pipe):
            continue
        if pipe.trainer.sees_all and not pipe.warm_start and not _sees_all(pipe, training):
            raise ConfigError(
                f"'{name}' collects parts of the corpus until it has all, and checkpoints do not "
                f'hold them. Put @batchers = "{WHOLE_CORPUS}" into [training.batcher] and set '
                "accumulate_gradient = 1 in [training]."
            )
        if pipe.warm_start and not _sees_all(pipe, training):
            raise ConfigError(
                f"'{name}' was trained before, and gets new features with every new batch: "
                "checkpoints do not hold that. Give it an L-BFGS trainer and "
                f'@batchers = "{WHOLE_CORPUS}" in [training.batcher], or take the checkpoints '
                "out of [training.before_update]."
            )


def _sees_all(pipe: CascadePipe, training: Mapping[str, Any]) -> bool:
    is_whole = training["batcher"]["@batchers"] == WHOLE_CORPUS
    return is_whole and training["accumulate_gradient"] == 1 and bool(pipe.trainer.sees_all)
