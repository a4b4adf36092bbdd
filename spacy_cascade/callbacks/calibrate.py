"""The callback that calibrates a pipeline whenever it is saved in training."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from spacy.language import Language

from ..errors import ConfigError, TrainingError
from ..pipeline.progress import is_interrupted
from ..pipeline.readers import examples_for
from ..workflows.calibrate import Calibrated, calibrate, with_temperatures

NAME = "spacy_cascade.calibrate.v1"


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
            return with_temperatures(nlp, last[digest])
        try:
            calibrated, found = calibrate(nlp, examples_for(nlp, Path(path)))
        except TrainingError as error:
            warnings.warn(f"Confidences are not calibrated. {error}", stacklevel=2)
            return nlp
        last.clear()
        last[digest] = found
        return calibrated

    return before_to_disk
