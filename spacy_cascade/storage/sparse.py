"""Arrays of weights in archives: as they are, or without their zeros where that is shorter.

Without zeros `NAME` `[n, m]` is `NAME_places`, a bit for each value, uint8 `[⌈nm / 8⌉]`, and
`NAME_values`, those whose bit is set. Zeros are those whose bits are all 0.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..errors import ModelFileError
from .arrays import Array, Shapes, blocks

_BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32}


def _names(name: str) -> tuple[str, str]:
    return f"{name}_places", f"{name}_values"


def shortest(name: str, values: Array) -> dict[str, Array]:
    """The arrays in which an array of 1, 2 or 4 bytes a value takes the fewest bytes."""
    is_set = np.ascontiguousarray(values).view(_BITS[values.itemsize]).reshape(-1) != 0
    n_there = int(np.count_nonzero(is_set))
    if n_there * values.itemsize + is_set.size // 8 >= values.nbytes:
        return {name: values}
    places, there = _names(name)
    return {places: np.packbits(is_set), there: values.reshape(-1)[is_set]}


def is_there(name: str, arrays: Mapping[str, Array]) -> bool:
    """Whether there are arrays that stand for one, or some of them."""
    return any(part in arrays for part in (name, *_names(name)))


def expected_arrays(
    name: str, arrays: Mapping[str, Array], shape: tuple[int, int], kind: str
) -> Shapes:
    """Shape and kind of the arrays that stand for an array of a kind (`arrays.check_array`)."""
    places, there = _names(name)
    if name in arrays or not {places, there} & arrays.keys():
        return {name: (shape, kind)}
    n_bytes = -(-shape[0] * shape[1] // 8)
    n_values = arrays[there].size if there in arrays else 0
    return {places: ((n_bytes,), "u1"), there: ((n_values,), kind)}


def check(name: str, arrays: Mapping[str, Array], shape: tuple[int, int]) -> None:
    """Raise `ModelFileError` where places and values do not agree; they have their shapes."""
    places, there = _names(name)
    if name in arrays:
        return
    n_places = sum(int(np.unpackbits(block).sum()) for block in blocks(arrays[places]))
    beyond = -shape[0] * shape[1] % 8
    if beyond and int(arrays[places][-1]) & ((1 << beyond) - 1):
        raise ModelFileError(f"The array '{places}' of the saved model has places beyond its end.")
    if n_places != arrays[there].size:
        raise ModelFileError(
            f"The array '{places}' of the saved model has {n_places} places for the "
            f"{arrays[there].size} values of '{there}'."
        )


def restore(name: str, arrays: Mapping[str, Array], shape: tuple[int, int]) -> Array:
    """The array `[n, m]` of checked arrays."""
    if name in arrays:
        return arrays[name]
    places, there = (arrays[part] for part in _names(name))
    size = shape[0] * shape[1]
    values = np.zeros(size, dtype=there.dtype)
    values[np.unpackbits(places, count=size).view(np.bool_)] = there
    return values.reshape(shape)
