"""Values of states, read from files of which nothing is known: each is checked before it is used.

All functions raise `ValueError` where a value is not what it has to be.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

MOST = 2**53
"""No count of a training is larger."""


def count_in(value: object, least: int = 0, most: int = MOST) -> int:
    """A whole number in a range, its ends included."""
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{_shown(value)} where a whole number from {least} to {most} is needed")
    return value


def number_in(value: object, least: float = -math.inf) -> float:
    """A finite number that is not less."""
    if type(value) not in (int, float):
        raise ValueError(f"{_shown(value)} where a number is needed")
    try:
        number = float(value)  # type: ignore[arg-type]
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or number < least:
        raise ValueError(f"{_shown(value)} where a finite number from {least} on is needed")
    return number


def truth_in(value: object) -> bool:
    """True or false. Raises `ValueError` for anything else."""
    if type(value) is not bool:
        raise ValueError(f"{_shown(value)} where true or false is needed")
    return value


def generator_in(value: object) -> np.random.Generator:
    """A generator with the state of a PCG64, NumPy's default, whose numbers have 128 bits."""
    table = _table(value, {"bit_generator", "state", "has_uint32", "uinteger"})
    numbers = _table(table["state"], {"state", "inc"})
    if table["bit_generator"] != "PCG64":
        raise ValueError(f"a generator {_shown(table['bit_generator'])} where PCG64 is needed")
    made = np.random.PCG64()
    made.state = {
        "bit_generator": "PCG64",
        "state": {
            "state": count_in(numbers["state"], 0, 2**128 - 1),
            "inc": count_in(numbers["inc"], 0, 2**128 - 1),
        },
        "has_uint32": count_in(table["has_uint32"], 0, 1),
        "uinteger": count_in(table["uinteger"], 0, 2**32 - 1),
    }
    return np.random.Generator(made)


def _table(value: object, fields: set[str]) -> dict[str, Any]:
    if not isinstance(value, dict) or value.keys() != fields:
        raise ValueError(f"{_shown(value)} where {', '.join(sorted(fields))} are needed")
    return value


def _shown(value: object) -> str:
    try:
        return repr(value)[:60]
    except ValueError:  # A number of thousands of digits.
        return "a very large number"
