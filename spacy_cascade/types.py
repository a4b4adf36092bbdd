"""Names for the types of arrays, and of values in configs.

The digit is the number of dimensions. `Ints` are int32 (ids, labels), `Pointers` int64 (offsets
into other arrays), `Keys` uint64 (hashes), `Floats` float64, `Singles` float32, `Reals` either of
these two.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Ints1d: TypeAlias = npt.NDArray[np.int32]
Ints2d: TypeAlias = npt.NDArray[np.int32]
Ints3d: TypeAlias = np.ndarray[tuple[int, int, int], np.dtype[np.int32]]
Pointers1d: TypeAlias = npt.NDArray[np.int64]
Pointers2d: TypeAlias = npt.NDArray[np.int64]
Keys1d: TypeAlias = npt.NDArray[np.uint64]
Keys2d: TypeAlias = npt.NDArray[np.uint64]
Bools1d: TypeAlias = npt.NDArray[np.bool_]
Bools2d: TypeAlias = npt.NDArray[np.bool_]
Bools3d: TypeAlias = npt.NDArray[np.bool_]
Floats1d: TypeAlias = npt.NDArray[np.float64]
Floats2d: TypeAlias = npt.NDArray[np.float64]
Floats3d: TypeAlias = np.ndarray[tuple[int, int, int], np.dtype[np.float64]]
Singles1d: TypeAlias = npt.NDArray[np.float32]
Reals1d: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Reals2d: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]
RealsXd: TypeAlias = Reals1d
"""Of any shape."""

Json: TypeAlias = Any
"""What JSON can hold: a number, a text, true, false, null, or a list or table of these."""

Texts: TypeAlias = list[str] | tuple[str, ...]
"""What an option of a config takes as several texts: a single text is none of its characters."""
