"""Files of checkpoints: an archive of arrays, like models, read without pickle.

Arrays: `header` (UTF-8 JSON: all that is no array), `training/NAME/…` (`trainers.base.State` of
the component) and `best/NAME/…` (what it had learnt at the best evaluation).
"""

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import CascadeError, ModelFileError
from ...files import replace_file
from ...storage import archive
from ...storage.arrays import Arrays
from ...trainers.base import State
from .fingerprint import TrainingFingerprint
from .header import checked_header, read_json

FORMAT = "spacy_cascade checkpoint"
VERSION = 1


@dataclass(frozen=True)
class Evaluation:
    """What came of the updates since the evaluation before, and all scores."""

    step: int
    losses: dict[str, float]
    scores: dict[str, Any]


@dataclass
class History:
    """What has come of a training so far.

    evaluations: all of them, first ones first. losses: of the updates after the last of them.
    best: for each component what it had learnt at the best of them.
    """

    evaluations: list[Evaluation] = field(default_factory=list)
    losses: dict[str, float] = field(default_factory=dict)
    best: dict[str, Arrays] = field(default_factory=dict)

    def best_step(self, score_weights: Mapping[str, float | None]) -> int | None:
        """Where spaCy has seen the highest score, of equal ones the last; None before any."""
        weights = {name: w for name, w in score_weights.items() if w is not None}
        best, highest = None, -math.inf
        for evaluation in self.evaluations:
            # A score that is missing once counts no longer.
            scores = {name: s for name, s in evaluation.scores.items() if s is not None}
            weights = {name: w for name, w in weights.items() if name in scores}
            score = sum(scores[name] * w for name, w in weights.items())
            if score >= highest:
                best, highest = evaluation.step, score
        return best


@dataclass(frozen=True)
class Checkpoint:
    """All that a training goes on from.

    step, epoch: of the update that comes next. randomness: states of the generators that the
    whole process shares. trainings: by component what its training goes on from.
    """

    step: int
    epoch: int
    origin: TrainingFingerprint
    history: History
    randomness: dict[str, Any]
    trainings: dict[str, State]


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    replace_file(path, pack(checkpoint))


def read_checkpoint(path: Path) -> Checkpoint | None:
    """The checkpoint of a file, None where there is no file.

    Raises `ModelFileError` for anything that is no checkpoint, or that cannot be read.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ModelFileError(f"Cannot read the checkpoint {path}: {error.strerror}.") from error
    return unpack(data, f"The checkpoint {path}")


def pack(checkpoint: Checkpoint) -> bytes:
    history = checkpoint.history
    arrays = _named("training", checkpoint.trainings) | _named("best", history.best)
    values = {
        name: {key: value for key, value in state.items() if not isinstance(value, np.ndarray)}
        for name, state in checkpoint.trainings.items()
    }
    header = {
        "format": FORMAT,
        "version": VERSION,
        "step": checkpoint.step,
        "epoch": checkpoint.epoch,
        "origin": asdict(checkpoint.origin),
        "evaluations": [asdict(evaluation) for evaluation in history.evaluations],
        "losses": history.losses,
        "randomness": checkpoint.randomness,
        "trainings": values,
    }
    text = json.dumps(_finite(header), default=str, allow_nan=False).encode()
    return archive.write({"header": np.frombuffer(text, np.uint8), **arrays})


def _finite(value: Any) -> Any:
    """The same with null for scores that are no finite numbers: those count as missing."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _named(kind: str, states: Mapping[str, Mapping[str, Any]]) -> Arrays:
    return {
        f"{kind}/{name}/{key}": value
        for name, state in states.items()
        for key, value in state.items()
        if isinstance(value, np.ndarray)
    }


def unpack(data: bytes, where: str) -> Checkpoint:
    """The checkpoint in a file. Raises `ModelFileError`, naming `where` and why."""
    with reading(where):
        arrays = dict(archive.read(data))
        header = read_json(arrays.pop("header").tobytes())
        if header["format"] != FORMAT:
            raise ValueError(f"its format is {header['format']!r}")
        if header["version"] != VERSION:
            raise ModelFileError(
                f"{where} is one of another release of spacy_cascade (version {header['version']} "
                f"of the format, here {VERSION}). Remove it, or train on with that release."
            )
        fields = checked_header(header)
        trainings = fields.trainings
        best: dict[str, Arrays] = {name: {} for name in trainings}
        for full_name, array in arrays.items():
            kind, _, rest = full_name.partition("/")
            name, _, key = rest.rpartition("/")
            {"training": trainings, "best": best}[kind][name][key] = array
        evaluations = [Evaluation(**dict(each)) for each in fields.evaluations]
        return Checkpoint(
            step=fields.step,
            epoch=fields.epoch,
            origin=TrainingFingerprint(**dict(fields.origin)),
            history=History(evaluations, fields.losses, best),
            randomness=dict(fields.randomness),
            trainings=trainings,
        )


@contextmanager
def reading(where: str) -> Iterator[None]:
    """Turn what goes wrong with the contents of a checkpoint into one `ModelFileError`."""
    try:
        yield
    except CascadeError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise ModelFileError(
            f"{where} is damaged or no checkpoint of spacy_cascade ({error!r}). Remove it, or set "
            "resume = false in [training.before_update], to begin anew."
        ) from error
