"""Arrays of saved models, and what one of them has to be.

They are looked at block by block: refusing an array takes no memory to speak of, but for keys,
which are sorted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..errors import ModelFileError

Array: TypeAlias = npt.NDArray[Any]
Arrays: TypeAlias = dict[str, Array]
Shapes: TypeAlias = dict[str, tuple[tuple[int, ...], str]]
"""Shape and kind of arrays by name."""
_BLOCK = 1 << 14


def blocks(array: Array) -> Iterator[Array]:
    """The values of an array in the order of memory, some thousands at a time."""
    values = array.reshape(-1, order="A")
    for begin in range(0, values.size, _BLOCK):
        yield values[begin : begin + _BLOCK]


def check_array(name: str, array: Array | None, shape: tuple[int, ...], kind: str) -> None:
    """Raise `ModelFileError` for an array that is missing, misshapen, or has no valid values."""
    if array is None or not array.dtype.str[1:].startswith(kind) or array.dtype == np.float64:
        raise ModelFileError(f"The saved model has no valid array '{name}'.")
    if array.shape != shape:
        raise ModelFileError(
            f"The array '{name}' of the saved model has shape {array.shape}, not {shape}."
        )
    if kind == "f" and not all(np.isfinite(block).all() for block in blocks(array)):
        raise ModelFileError(f"The array '{name}' of the saved model is not finite.")
    if kind == "i4" and any((block < 0).any() for block in blocks(array)):
        raise ModelFileError(f"The array '{name}' of the saved model has negative numbers.")
    if kind == "b" and any((block.view(np.uint8) > 1).any() for block in blocks(array)):
        raise ModelFileError(f"The array '{name}' of the saved model is neither true nor false.")
    if kind == "u8" and _repeats(array):
        raise ModelFileError(f"The array '{name}' of the saved model repeats a key.")


def _repeats(keys: Array) -> bool:
    """Whether a key is there twice, or 0; sorting millions is faster than `np.unique`."""
    ordered = np.sort(keys)
    pairs = zip(blocks(ordered[1:]), blocks(ordered[:-1]), strict=True)
    return bool((ordered[:1] == 0).any() or any((a == b).any() for a, b in pairs))
