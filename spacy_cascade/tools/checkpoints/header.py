"""What the header of a checkpoint may be: every field is checked before anything is used."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Annotated, Any, NoReturn, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...trainers.states import MOST

T = TypeVar("T")
_Count = Annotated[int, Field(ge=0, le=MOST)]
_Words = Annotated[list[Annotated[int, Field(ge=0, lt=2**32)]], Field(max_length=625)]
_N_WORDS = 624
"""Numbers in the state of a Mersenne Twister."""
_PYTHONS_VERSION = 3
"""Of the states of Python's generator, since Python 3.2."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class EvaluationTable(_Table):
    """An evaluation; scores are whatever scorers give."""

    step: _Count
    losses: dict[str, float]
    scores: dict[str, Any]


class OriginTable(_Table):
    """What training depends on."""

    settings: dict[str, Any]
    starts: dict[str, str]


class PythonsState(_Table):
    """The state of Python's generator."""

    version: int
    words: _Words
    gauss: float | None


class NumpysState(_Table):
    """The state of NumPy's global generator."""

    words: _Words
    position: Annotated[int, Field(ge=0, le=_N_WORDS)]
    has_gauss: Annotated[int, Field(ge=0, le=1)]
    gauss: float


class RandomnessTable(_Table):
    """States as both generators list them, of parts of a fixed order."""

    python: Annotated[list[Any], Field(min_length=3, max_length=3)]
    numpy: Annotated[list[Any], Field(min_length=5, max_length=5)]


class HeaderTable(_Table):
    """The header without its format and version."""

    step: _Count
    epoch: _Count
    origin: OriginTable
    evaluations: list[EvaluationTable]
    losses: dict[str, float]
    randomness: RandomnessTable
    trainings: dict[str, dict[str, Any]]


def read_json(text: bytes) -> Any:
    """JSON of finite numbers. Raises `ValueError` for anything else, however deep."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("its header is nested too deep") from None


def checked_header(header: dict[str, Any]) -> HeaderTable:
    """Raises `ValueError` that names the first wrong field."""
    fields = {name: value for name, value in header.items() if name not in ("format", "version")}
    return _checked(lambda: HeaderTable.model_validate(fields), "")


def randomness() -> dict[str, Any]:
    """States of the generators that spaCy seeds: Python's and NumPy's global ones."""
    name, words, *rest = np.random.get_state()  # noqa: NPY002
    return {"python": random.getstate(), "numpy": [name, np.asarray(words).tolist(), *rest]}


def restore_randomness(states: dict[str, Any]) -> None:
    """Set both generators. Raises `ValueError`, and sets none, where a state is not valid.

    NumPy itself takes a position beyond the end of a state, and then reads past it.
    """
    version, words, gauss = states["python"]
    name, keys, position, has_gauss, normal = states["numpy"]
    python = _checked(
        lambda: PythonsState(version=version, words=words, gauss=gauss), "randomness.python."
    )
    numpy = _checked(
        lambda: NumpysState(words=keys, position=position, has_gauss=has_gauss, gauss=normal),
        "randomness.numpy.",
    )
    is_whole = len(python.words) == _N_WORDS + 1 and python.words[-1] <= _N_WORDS
    if python.version != _PYTHONS_VERSION or not is_whole:
        raise ValueError("'randomness.python' is no state of Python's generator")
    if name != "MT19937" or len(numpy.words) != _N_WORDS:
        raise ValueError("'randomness.numpy' is no state of NumPy's generator")
    random.setstate((python.version, tuple(python.words), python.gauss))
    array = np.array(numpy.words, dtype=np.uint32)
    np.random.set_state(("MT19937", array, numpy.position, numpy.has_gauss, numpy.gauss))  # noqa: NPY002


def _checked(validate: Callable[[], T], where: str) -> T:
    try:
        return validate()
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"'{where}{place}': {first['msg']}") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"its header has {constant}, which is no number")
