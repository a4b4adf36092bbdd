"""What an array of a saved model has to be.

Arrays are looked at block by block: refusing one takes little memory. Keys are an exception,
because they are sorted.
"""

from __future__ import annotations

import numpy as np

from ..errors import ModelFileError
from ..numeric.arrays import Array as Array
from ..numeric.arrays import Arrays as Arrays
from ..numeric.arrays import Shapes as Shapes
from ..numeric.arrays import blocks as blocks


def check_array(name: str, array: Array | None, shape: tuple[int, ...], kind: str) -> None:
    """Raise `ModelFileError` for an array that is missing, misshapen, or has no valid values."""
    if array is None or not array.dtype.str[1:].startswith(kind) or array.dtype == np.float64:
        raise ModelFileError(f"The saved model has no valid array '{name}'.")
    if array.shape != shape:
        raise ModelFileError(
            f"The array '{name}' of the saved model has shape {array.shape}, not {shape}."
        )
    if kind.startswith("f") and not all(np.isfinite(block).all() for block in blocks(array)):
        raise ModelFileError(f"The array '{name}' of the saved model is not finite.")
    if kind == "i4" and any((block < 0).any() for block in blocks(array)):
        raise ModelFileError(f"The array '{name}' of the saved model has negative numbers.")
    if kind == "b" and any((block.view(np.uint8) > 1).any() for block in blocks(array)):
        raise ModelFileError(f"The array '{name}' of the saved model is neither true nor false.")
    if kind == "u8" and _repeats(array):
        raise ModelFileError(f"The array '{name}' of the saved model repeats a key.")


def check_shapes(arrays: Arrays, expected: Shapes) -> None:
    """Raise `ModelFileError` where the arrays are not those expected, by name, shape and kind."""
    for name in sorted(arrays.keys() - expected.keys()):
        raise ModelFileError(f"The saved model has an unknown array {name[:100]!r}.")
    for name, (size, kind) in expected.items():
        check_array(name, arrays.get(name), size, kind)


def _repeats(keys: Array) -> bool:
    """Whether a key is there twice, or 0; sorting millions is faster than `np.unique`."""
    ordered = np.sort(keys)
    pairs = zip(blocks(ordered[1:]), blocks(ordered[:-1]), strict=True)
    return bool((ordered[:1] == 0).any() or any((a == b).any() for a, b in pairs))
