"""Arrays of any kind by name, and a way to look at large ones in little memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Arrays: TypeAlias = dict[str, Array]
Shapes: TypeAlias = dict[str, tuple[tuple[int, ...], str]]
"""For each name the shape, and how `dtype.str` goes on after the byte order, such as `u8`."""
_BLOCK = 1 << 14


def grown(rows: Array, size: int) -> Array:
    """The rows, and as many rows of zeros as make up the size, which take no memory till used."""
    larger = np.zeros((size, *rows.shape[1:]), rows.dtype)
    larger[: len(rows)] = rows
    return larger


def blocks(array: Array) -> Iterator[Array]:
    """The values of an array in the order of memory, some thousands at a time."""
    values = array.reshape(-1, order="A")
    for begin in range(0, values.size, _BLOCK):
        yield values[begin : begin + _BLOCK]
