"""Values with large arrays in files that are mapped into memory: nothing is copied to read them.

The arrays of a value stand in the file as they are, by pickle's out-of-band buffers (PEP 574); only
the small rest is pickled. Such a file is read by the process that wrote it, and nowhere else: a
pickle from elsewhere can run anything.
"""

from __future__ import annotations

import mmap
import os
import pickle
import tempfile
from collections.abc import Iterator
from itertools import accumulate
from typing import IO, Any

from ...files import temporary_files

_ALIGNMENT = 64


class Packed:
    """A value as bytes and arrays; they are those of the value, so it must not change meanwhile."""

    def __init__(self, value: object) -> None:
        buffers: list[pickle.PickleBuffer] = []
        head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
        self._parts = [memoryview(head), *(buffer.raw() for buffer in buffers)]
        self._sizes = pickle.dumps([part.nbytes for part in self._parts])
        self._starts = _starts(len(self._sizes), [part.nbytes for part in self._parts])

    @property
    def n_bytes(self) -> int:
        return self._starts[-1]

    def write(self, memory: mmap.mmap) -> None:
        memory[:8] = len(self._sizes).to_bytes(8, "little")
        memory[8 : 8 + len(self._sizes)] = self._sizes
        for start, part in zip(self._starts, self._parts, strict=False):
            memory[start : start + part.nbytes] = part


def unpack(memory: mmap.mmap) -> Any:
    """The value; its arrays are views of the memory."""
    n = int.from_bytes(memory[:8], "little")
    sizes = pickle.loads(memory[8 : 8 + n])
    view = memoryview(memory)
    starts = _starts(n, sizes)
    head, *buffers = (
        view[start : start + size] for start, size in zip(starts, sizes, strict=False)
    )
    return pickle.loads(head, buffers=buffers)


def _starts(head: int, sizes: list[int]) -> list[int]:
    """Where each part begins, and the end."""
    steps = [_aligned(size) for size in sizes]
    return list(accumulate(steps, initial=_aligned(8 + head)))


def _aligned(size: int, alignment: int = _ALIGNMENT) -> int:
    return -(-size // alignment) * alignment


class Shelf:
    """Values one after the other in a temporary file, each mapped into memory when it is read.

    The file goes with the object, or when the process ends; it has no name, so that nothing stays
    behind even if the process is killed.
    """

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._places: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self._places)

    def append(self, value: object) -> None:
        """Add a value. Raises `SavingError` if the disk is full."""
        packed, end = Packed(value), sum(self._places[-1]) if self._places else 0
        start = _aligned(end, mmap.ALLOCATIONGRANULARITY)
        with temporary_files():
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the object
            packed.write(_room(self._file, packed.n_bytes, start))
        self._places.append((start, packed.n_bytes))

    def __iter__(self) -> Iterator[Any]:
        """The values; who lets go of one, and of its arrays, ends its mapping.

        They may be changed, which changes nothing in the file.
        """
        return map(self._read, self._places)

    def _read(self, place: tuple[int, int]) -> Any:
        assert self._file is not None
        start, n_bytes = place
        number, access = self._file.fileno(), mmap.ACCESS_COPY
        return unpack(mmap.mmap(number, n_bytes, access=access, offset=start))


def _room(file: IO[bytes], n_bytes: int, start: int) -> mmap.mmap:
    """The next bytes of a file, mapped; they are reserved: writing to them later cannot fail."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), start, n_bytes)
    else:
        file.truncate(start + n_bytes)
    return mmap.mmap(file.fileno(), n_bytes, offset=start)
