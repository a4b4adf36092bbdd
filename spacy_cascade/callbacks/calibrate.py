"""The callback that calibrates a pipeline whenever it is saved in training."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.training import Example
from spacy.util import logger
from thinc.api import Config

from ..checks import configured
from ..errors import ConfigError, TrainingError
from ..pipeline.progress import is_interrupted
from ..pipeline.readers import examples_for
from ..workflows.calibrate import Calibrated, temperatures
from ..workflows.decoding import Decoding, decode_for_f1
from ..workflows.reconfigure import Settings, reconfigured, take_own_scores, with_settings

NAME = "spacy_cascade.calibrate.v1"
_SHARED = ["vocab", "tokenizer", "meta"]
"""What the copy has from the pipeline itself; the meta data change with each score."""
_OWN_SCORES = (
    "The table has scores of the pipeline in training. What is saved is calibrated and chooses its "
    "entities by their confidences; its own scores are in its meta.json."
)


@configured
def make_calibration(path: str | None, decoding: str = "best") -> Callable[[Language], Language]:
    """Calibrate the confidences whenever a pipeline is saved in training.

    Registered as `spacy_cascade.calibrate.v1` for `[training.before_to_disk]`. path: the
    development corpus; without it saving raises `ConfigError`. decoding: `"best"` leaves the
    entities as they are; `"expected_f1"` has the saved pipeline choose those with the greatest
    expected F1; anything else raises `ConfigError`. Where its entities depend on confidences, the
    saved pipeline is scored on the corpus, and its meta data have these scores; those that training
    shows are of the pipeline before. A pipeline that finds nothing in the corpus yet
    is saved as it is, with a warning; one whose training Ctrl-C stops without one. The corpus is
    read once for a pipeline, and the next save writes over the calibrated copy of the last one.
    """
    known = [kind.value for kind in Decoding]
    if decoding not in known:
        raise ConfigError(
            f"{NAME} has no decoding '{decoding}'. Known: {', '.join(known)}. Change it under "
            "[training.before_to_disk]."
        )
    last: dict[bytes, tuple[list[Settings], dict[str, Any] | None]] = {}
    kept: list[_Kept] = []

    def before_to_disk(nlp: Language) -> Language:
        if path is None:
            raise ConfigError(f"{NAME} needs a path. Set --paths.dev.")
        if is_interrupted():
            return nlp
        data = nlp.to_bytes(exclude=_SHARED)
        # spaCy saves the last pipeline twice, and resumed training the best one again and again.
        digest = sha256(data).digest()
        if digest in last:
            settings, performance = last[digest]
            again = with_settings(nlp, *settings)
            if performance is not None:
                again.meta["performance"] = deepcopy(performance)
            return again
        if not kept or not kept[0].is_of(nlp):
            kept[:] = [_Kept.of(nlp, Path(path))]
        try:
            fitted, settings = _fit(nlp, data, kept[0], Decoding(decoding))
        except TrainingError as error:
            warnings.warn(f"Confidences are not calibrated. {error}", stacklevel=2)
            return nlp
        performance = None
        if fitted.meta.get("performance") and _chooses_by_confidences(fitted):
            take_own_scores(fitted, kept[0].examples)
            performance = deepcopy(fitted.meta["performance"])
            if not last:
                logger.info(_OWN_SCORES)
        last.clear()
        last[digest] = settings, performance
        return fitted

    return before_to_disk


@dataclass(frozen=True)
class _Kept:
    """What a pipeline that is saved again and again needs each time, while its config stays."""

    nlp: Language
    config: Config
    examples: list[Example]
    copy: Language

    @classmethod
    def of(cls, nlp: Language, path: Path) -> _Kept:
        config = nlp.config.copy()  # spaCy changes its own in place.
        return cls(nlp, config, list(examples_for(nlp, path)), reconfigured(nlp, config))

    def is_of(self, nlp: Language) -> bool:
        return nlp is self.nlp and nlp.config == self.config

    def calibrated(self, data: bytes, found: list[Calibrated]) -> Language:
        """The copy with the weights of `data`, and options that are set each time."""
        self.copy.from_bytes(data, exclude=_SHARED)
        self.copy.meta.update(deepcopy(self.nlp.meta))
        for result in found:
            pipe: Any = self.copy.get_pipe(result.component)
            pipe.cfg = result.options
        return self.copy


def _fit(
    nlp: Language, data: bytes, kept: _Kept, decoding: Decoding
) -> tuple[Language, list[Settings]]:
    """A calibrated copy, and the options that it has for that."""
    found = temperatures(nlp, kept.examples)
    settings = [result.settings for result in found]
    fitted = kept.calibrated(data, found)
    if decoding is Decoding.expected_f1:
        fitted, decoded = decode_for_f1(fitted, [example.predicted for example in kept.examples])
        settings.append(decoded.settings)
    return fitted, settings


def _chooses_by_confidences(nlp: Language) -> bool:
    """Whether its entities depend on temperatures."""
    settings = ("overlapping", "threshold", "label_thresholds")
    return any(getattr(pipe, setting, False) for _, pipe in nlp.pipeline for setting in settings)
