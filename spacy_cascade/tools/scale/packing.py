"""Values with large arrays in a file that is mapped into memory: nothing is copied to read them.

The arrays of a value stand in the file as they are, by pickle's out-of-band buffers (PEP 574); the
small rest stays in memory.
"""

from __future__ import annotations

import io
import mmap
import pickle
import tempfile
from collections.abc import Iterator
from itertools import accumulate
from typing import IO, Any, NamedTuple

import numpy as np

from ...files import temporary_files
from ...types import Singles1d

_ALIGNMENT = 64
_WRITTEN = 1 << 20
"""Numbers that are written at once."""


class _Place(NamedTuple):
    """Where a value is.

    rest: its pickle without arrays. starts: of the arrays, counted from `begin`, and their end.
    """

    rest: bytes
    begin: int
    starts: list[int]
    sizes: list[int]


class Shelf:
    """Values one after the other in a temporary file, each mapped into memory when it is read.

    The file goes with the object, or when the process ends; it has no name, so that nothing stays
    behind even if the process is killed.
    """

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._places: list[_Place] = []

    def __len__(self) -> int:
        return len(self._places)

    def append(self, value: object) -> None:
        """Add a value. Raises `SavingError` if the disk is full."""
        buffers: list[pickle.PickleBuffer] = []
        rest = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
        arrays = [buffer.raw() for buffer in buffers]
        sizes = [array.nbytes for array in arrays]
        starts = [0, *accumulate(_aligned(size, _ALIGNMENT) for size in sizes)]
        with temporary_files():
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the object
            begin = _aligned(self._file.seek(0, io.SEEK_END), mmap.ALLOCATIONGRANULARITY)
            for array, start in zip(arrays, starts, strict=False):
                self._file.seek(begin + start)
                self._file.write(array)
            self._file.truncate(begin + starts[-1])
            self._file.flush()
        self._places.append(_Place(rest, begin, starts, sizes))

    def __iter__(self) -> Iterator[Any]:
        """The values; who lets go of one, and of its arrays, ends its mapping.

        They may be changed, which changes nothing in the file.
        """
        return map(self._read, self._places)

    def _read(self, place: _Place) -> Any:
        assert self._file is not None
        memory = memoryview(b"")
        if place.starts[-1]:
            number, n_bytes = self._file.fileno(), place.starts[-1]
            copied = mmap.ACCESS_COPY
            memory = memoryview(mmap.mmap(number, n_bytes, access=copied, offset=place.begin))
        starts = zip(place.starts, place.sizes, strict=False)
        arrays = [memory[start : start + size] for start, size in starts]
        return pickle.loads(place.rest, buffers=arrays)


def singles_in_file(n: int) -> Singles1d:
    """An array of zeros, float32 `[n]`, in a temporary file of its own, mapped into memory.

    The system writes it to disk where it needs the memory. Raises `SavingError` if the disk is full
    now, so that it cannot be later.
    """
    if not n:
        return np.zeros(0, dtype=np.float32)
    with temporary_files(), tempfile.TemporaryFile() as file:
        for begin in range(0, n, _WRITTEN):
            file.write(np.zeros(min(_WRITTEN, n - begin), dtype=np.float32).data)
        file.flush()
        return np.frombuffer(mmap.mmap(file.fileno(), 0), dtype=np.float32)


def _aligned(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment
