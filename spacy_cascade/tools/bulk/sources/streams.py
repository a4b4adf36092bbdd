"""Files that may be compressed, read forward from any place."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from ..extras import arrow

_BLOCK = 1 << 20


def _open_zstandard(path: Path) -> Any:
    compressed = arrow("Reading .zst").CompressedInputStream(str(path), "zstd")
    return io.BufferedReader(compressed, _BLOCK)


_OPENERS: dict[str, Callable[[Path], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": _open_zstandard,
}
COMPRESSED = tuple(_OPENERS)


def is_compressed(path: Path) -> bool:
    return path.suffix.lower() in _OPENERS


def open_bytes(path: Path) -> IO[bytes]:
    """A file for reading, decompressed by the end of its name."""
    opener = _OPENERS.get(path.suffix.lower())
    opened: IO[bytes] = path.open("rb", _BLOCK) if opener is None else opener(path)
    return opened


class ForwardReader:
    """Lines of a file from any byte on.

    It stays open after a range was read. A process gets the shards of a compressed file one after
    the other, so it need not decompress again what is before them.
    """

    def __init__(self) -> None:
        self._path: Path | None = None
        self._stream: IO[bytes] | None = None
        self._position = 0

    def move(self, path: Path, offset: int) -> None:
        """Go to a byte of the uncompressed file. Raises `EOFError` if the file is shorter."""
        if self._stream is None or path != self._path or offset < self._position:
            self.close()
            self._path, self._stream, self._position = path, open_bytes(path), 0
        if not is_compressed(path):
            self._stream.seek(offset)
            self._position = offset
        while self._position < offset:
            block = self._stream.read(min(_BLOCK, offset - self._position))
            if not block:
                raise EOFError("the file is shorter than it was")
            self._position += len(block)

    def line(self) -> bytes:
        """The next line with its end; empty at the end of the file."""
        assert self._stream is not None, "move() comes first"
        line = self._stream.readline()
        self._position += len(line)
        return line

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
        self._path = self._stream = None
