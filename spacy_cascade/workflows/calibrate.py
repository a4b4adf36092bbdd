"""Temperatures that make confidences agree with how often spans are right.

A log-linear model that was trained with a margin, or online, finds the best labels but is too
sure of them. Its scores divided by a temperature above 1 have the same best labels and flatter
probabilities (Guo et al. 2017, On Calibration of Modern Neural Networks).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..errors import ConfigError, TrainingError
from ..pipeline.interrupts import is_interrupted
from ..pipeline.readers import examples_for
from ..types import Bools1d, Floats1d
from .reconfigure import reconfigured

NAME = "spacy_cascade.calibrate.v1"
RANGE = (1 / 32, 32.0)
"""Temperatures that can be chosen."""
_STEPS = 24
"""Golden sections: the range of logarithms shrinks to a hundred-thousandth."""
_SMALLEST = 1e-12
_DIGITS = 3


@dataclass(frozen=True)
class Outcomes:
    """What was found, and how sure the component is of it at each temperature.

    right: bool `[P]`. confidences: gives float64 `[P]` for a temperature.
    """

    right: Bools1d
    confidences: Callable[[float], Floats1d]


@runtime_checkable
class HasConfidences(Protocol):
    """A component whose confidences depend on a temperature."""

    cfg: dict[str, Any]

    def outcomes(self, examples: Sequence[Example]) -> Outcomes:
        """What the component finds in the predicted Docs, judged by the references."""
        ...


@dataclass(frozen=True)
class Calibrated:
    """The temperature of a component, and its mean log loss at 1 and at that temperature."""

    component: str
    n_spans: int
    temperature: float
    loss_before: float
    loss: float


def check_temperature(temperature: float, name: str) -> float:
    """The temperature of a component. Raises `ConfigError` where it is not a positive number."""
    if not 0 < temperature < math.inf:
        raise ConfigError(
            f"The temperature of '{name}' must be above 0, not {temperature}. 1 leaves the "
            "probabilities of the model as they are."
        )
    return temperature


def log_loss(outcomes: Outcomes, temperature: float) -> float:
    """Mean log loss in nats of the confidences, against smoothed outcomes.

    As Platt has it (Probabilistic Outputs for Support Vector Machines, 1999, section 2.2), a right
    span counts as `(n + 1) / (n + 2)` where `n` are right, a wrong one as `1 / (m + 2)` where `m`
    are wrong, so that a few spans that are all right make nobody certain.
    """
    right = outcomes.right
    n_right, n = int(right.sum()), len(right)
    wanted = np.where(right, (n_right + 1) / (n_right + 2), 1 / (n - n_right + 2))
    found = np.clip(outcomes.confidences(temperature), _SMALLEST, 1 - _SMALLEST)
    return -float(np.mean(wanted * np.log(found) + (1 - wanted) * np.log1p(-found)))


def best_temperature(outcomes: Outcomes) -> float:
    """The temperature of least log loss, by golden sections of its logarithm."""
    section = (math.sqrt(5) - 1) / 2
    low, high = map(math.log, RANGE)
    inner = [high - section * (high - low), low + section * (high - low)]
    losses = [log_loss(outcomes, math.exp(x)) for x in inner]
    for _ in range(_STEPS):
        if losses[0] <= losses[1]:
            high = inner[1]
            inner = [high - section * (high - low), inner[0]]
            losses = [log_loss(outcomes, math.exp(inner[0])), losses[0]]
        else:
            low = inner[0]
            inner = [inner[1], low + section * (high - low)]
            losses = [losses[1], log_loss(outcomes, math.exp(inner[1]))]
    return round(math.exp((low + high) / 2), _DIGITS)


def calibrate(nlp: Language, examples: Iterable[Example]) -> tuple[Language, list[Calibrated]]:
    """A copy of the pipeline with temperatures fitted to the examples, and what was found.

    examples: with entities, and not those that it was trained on. Each component is judged by
    itself: a segmenter by whether its spans are right, a classifier by whether the types of spans
    with the right bounds are. nlp stays as it is. Raises `ConfigError` where no component gives
    confidences, `TrainingError` where one finds nothing in the examples.
    """
    examples = list(examples)
    docs = [example.predicted.copy() for example in examples]
    found: list[Calibrated] = []
    for name, pipe in nlp.pipeline:
        if isinstance(pipe, HasConfidences) and pipe.cfg["confidence"]:
            seen = [Example(doc, e.reference) for doc, e in zip(docs, examples, strict=True)]
            found.append(_calibrate(name, pipe.outcomes(seen)))
        docs = _annotate(pipe, docs)
    if not found:
        raise ConfigError(
            f"No component of the pipeline gives confidences; it has {nlp.pipe_names}. Give one "
            "with a cascade_segmenter or a cascade_classifier whose 'confidence' is true."
        )
    return _with_temperatures(nlp, found), found


def _with_temperatures(nlp: Language, found: Iterable[Calibrated]) -> Language:
    config = nlp.config.copy()
    for result in found:
        config["components"][result.component]["temperature"] = result.temperature
    return reconfigured(nlp, config)


def _calibrate(name: str, outcomes: Outcomes) -> Calibrated:
    if not len(outcomes.right):
        raise TrainingError(
            f"'{name}' finds no spans in these Docs whose confidence could be judged. Give Docs "
            "with annotated entities, of the kind that it was trained on."
        )
    temperature = best_temperature(outcomes)
    before, after = (log_loss(outcomes, t) for t in (1.0, temperature))
    return Calibrated(name, len(outcomes.right), temperature, before, after)


def _annotate(pipe: Any, docs: list[Doc]) -> list[Doc]:
    return list(pipe.pipe(docs)) if hasattr(pipe, "pipe") else [pipe(doc) for doc in docs]


def make_calibration(path: str | None) -> Callable[[Language], Language]:
    """Calibrate the confidences whenever a pipeline is saved in training.

    Registered as `spacy_cascade.calibrate.v1` for `[training.before_to_disk]`. path: the
    development corpus; without it saving raises `ConfigError`. A pipeline that finds nothing there
    yet is saved as it is, with a warning; one whose training Ctrl-C stops without one.
    """
    last: dict[bytes, list[Calibrated]] = {}

    def before_to_disk(nlp: Language) -> Language:
        if path is None:
            raise ConfigError(f"{NAME} needs a path. Set --paths.dev.")
        if is_interrupted():
            return nlp
        # spaCy saves the last pipeline twice, and resumed training the best one again and again.
        digest = sha256(nlp.to_bytes(exclude=["vocab", "meta"])).digest()
        if digest in last:
            return _with_temperatures(nlp, last[digest])
        try:
            calibrated, found = calibrate(nlp, examples_for(nlp, Path(path)))
        except TrainingError as error:
            warnings.warn(f"Confidences are not calibrated. {error}", stacklevel=2)
            return nlp
        last.clear()
        last[digest] = found
        return calibrated

    return before_to_disk
