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
from ..workflows.calibrate import calibrate
from ..workflows.decoding import Decoding, decode_for_f1
from ..workflows.reconfigure import Settings, with_settings

NAME = "spacy_cascade.calibrate.v1"


def make_calibration(path: str | None, decoding: str = "best") -> Callable[[Language], Language]:
    """Calibrate the confidences whenever a pipeline is saved in training.

    Registered as `spacy_cascade.calibrate.v1` for `[training.before_to_disk]`. path: the
    development corpus; without it saving raises `ConfigError`. decoding: `"best"` leaves the
    entities as they are; `"expected_f1"` has the saved pipeline choose those with the greatest
    expected F1; anything else raises `ConfigError`. A pipeline that finds nothing in the corpus yet
    is saved as it is, with a warning; one whose training Ctrl-C stops without one.
    """
    known = [kind.value for kind in Decoding]
    if decoding not in known:
        raise ConfigError(
            f"{NAME} has no decoding '{decoding}'. Known: {', '.join(known)}. Change it under "
            "[training.before_to_disk]."
        )
    last: dict[bytes, list[Settings]] = {}

    def before_to_disk(nlp: Language) -> Language:
        if path is None:
            raise ConfigError(f"{NAME} needs a path. Set --paths.dev.")
        if is_interrupted():
            return nlp
        # spaCy saves the last pipeline twice, and resumed training the best one again and again.
        digest = sha256(nlp.to_bytes(exclude=["vocab", "meta"])).digest()
        if digest in last:
            return with_settings(nlp, *last[digest])
        try:
            fitted, settings = _fit(nlp, Path(path), Decoding(decoding))
        except TrainingError as error:
            warnings.warn(f"Confidences are not calibrated. {error}", stacklevel=2)
            return nlp
        last.clear()
        last[digest] = settings
        return fitted

    return before_to_disk


def _fit(nlp: Language, path: Path, decoding: Decoding) -> tuple[Language, list[Settings]]:
    """A calibrated copy, and the options that it has for that."""
    examples = list(examples_for(nlp, path))
    fitted, found = calibrate(nlp, examples)
    settings = [result.settings for result in found]
    if decoding is Decoding.expected_f1:
        fitted, decoded = decode_for_f1(fitted, [example.predicted for example in examples])
        settings.append(decoded.settings)
    return fitted, settings
