"""Files of checkpoints: an archive of arrays, like models, read without pickle.

Array `header` is UTF-8 JSON, whose fields are checked before anything is used. Where a component
keeps an array, the header has a table with its number, which is its name in the archive.
"""

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from ...errors import CascadeError, ModelFileError
from ...storage import archive
from ...storage.arrays import Arrays
from ...storage.tables import STRICT, read_table
from ...trainers.states import MOST

_ARRAY = "array"


@dataclass(frozen=True)
class Evaluation:
    """The losses of the updates since the evaluation before, and all scores."""

    __pydantic_config__ = STRICT
    step: Annotated[int, Field(ge=0, le=MOST)]
    losses: dict[str, float]
    scores: dict[str, Any]


@dataclass
class Checkpoint:
    """All that a training goes on from.

    origin: see `training_fingerprint`. step, epoch: of the update that comes next. evaluations:
    all of them, first ones first. losses: of the updates after the last of them. best: for each
    component what it had learnt at the best of them. trainings: the `trainers.base.State` of each.
    begun: the update at which the fit of a component began, where that was not the first one.
    """

    __pydantic_config__ = STRICT
    origin: dict[str, Any]
    step: Annotated[int, Field(ge=1, le=MOST)]
    epoch: Annotated[int, Field(ge=0, le=MOST)]
    evaluations: list[Evaluation]
    losses: dict[str, float]
    best: dict[str, dict[str, Any]]
    trainings: dict[str, dict[str, Any]]
    begun: dict[str, Annotated[int, Field(ge=1, le=MOST)]]
    format: Literal["spacy_cascade checkpoint"] = "spacy_cascade checkpoint"
    version: Literal[1] = 1

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


def read_checkpoint(path: Path) -> Checkpoint | None:
    """The checkpoint of a file, None where there is no file.

    Raises `ModelFileError` for anything that is no checkpoint, or that cannot be read.
    """
    where = f"The checkpoint {path}"
    with reading(where):
        return unpack(path.read_bytes(), where) if path.exists() else None


def pack(checkpoint: Checkpoint) -> bytes:
    """The checkpoint as bytes. Scores that are no finite numbers are NaN or Infinity there."""
    arrays: Arrays = {}

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            arrays[str(len(arrays))] = value
            return {_ARRAY: len(arrays) - 1}
        return vars(value) if is_dataclass(value) else str(value)

    text = json.dumps(checkpoint, default=plain).encode()
    return archive.write({"header": np.frombuffer(text, np.uint8), **arrays})


def unpack(data: bytes, where: str) -> Checkpoint:
    """The checkpoint in a file. Raises `ModelFileError`, naming `where` and why."""
    with reading(where):
        arrays = dict(archive.read(data))
        checkpoint = read_table(Checkpoint, arrays["header"].tobytes())
        for state in (*checkpoint.trainings.values(), *checkpoint.best.values()):
            for name, value in state.items():
                if isinstance(value, dict) and _ARRAY in value:
                    state[name] = arrays[str(value[_ARRAY])]
        return checkpoint


@contextmanager
def reading(where: str) -> Iterator[None]:
    """Turn what goes wrong with a file and its contents into one `ModelFileError`."""
    try:
        yield
    except CascadeError:
        raise
    except (OSError, KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise ModelFileError(
            f"{where} cannot be read, is of another release, damaged or no checkpoint of "
            f"spacy_cascade ({error!r}). Remove it, or set resume = false in "
            "[training.before_update], to begin anew."
        ) from error
