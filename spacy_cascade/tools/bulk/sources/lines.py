"""Files with a record a line, plain text and JSON, which may be compressed."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import zlib
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, ClassVar

from ....features.strings import is_valid
from ..extras import arrow
from .base import BATCH_CHARACTERS, BATCH_RECORDS, Range, Rows, Source, Unreadable

_DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError)
_SAMPLED = 1000
"""Lines of a file that say which columns it has."""
_MARK = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8, which is no part of a text."""
_SCALARS = {bool: "bool", int: "int64", float: "float64", str: "string"}


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
    """Whether the name says so."""
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
        """Go to a byte of the uncompressed file.

        Raises `EOFError` if a compressed file is shorter; a line of any other is empty then.
        """
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
        """Close the file below it."""
        if self._stream is not None:
            self._stream.close()
        self._path = self._stream = None


_READER = ForwardReader()
"""Of this process: a shard often begins where the one before it ended."""


class _Problem(Exception):
    """Why a line is no record."""


@dataclass(frozen=True)
class LineSource(Source):
    """A file with a record a line. skips_empty: whether an empty line is no record."""

    advice: ClassVar[str]
    skips_empty: ClassVar[bool] = False

    @abstractmethod
    def parse(self, line: str) -> tuple[Any, dict[str, Any]]:
        """Text and other fields of a line. Raises `_Problem`."""

    def ranges(self, size: int) -> Iterator[Range]:
        self.sample()
        first = offset = count = length = 0
        for line in self._lines():
            count += 1
            length += len(line)
            if length >= size:
                yield Range(first, count, offset, length)
                first, offset, count, length = first + count, offset + length, 0, 0
        if count:
            yield Range(first, count, offset, length)

    def read(self, wanted: Range) -> Iterator[Rows]:
        texts, rows = _new_rows()
        characters, end = 0, wanted.first + wanted.length
        for number in range(wanted.first + 1, end + 1):
            try:
                if number == wanted.first + 1:
                    _READER.move(self.path, wanted.offset)
                line = _READER.line()
            except _DAMAGED as error:
                _READER.close()
                rows.unreadable.append(Unreadable(number, end, f"cannot read the file: {error}"))
                break
            if self.skips_empty and not line.strip():
                continue
            try:
                text, fields = self.parse(_decoded(line, number))
            except _Problem as problem:
                rows.unreadable.append(Unreadable(number, number, str(problem)))
                continue
            rows.numbers.append(number)
            texts.append(text)
            rows.fields.append(fields)
            characters += len(line)
            if characters >= BATCH_CHARACTERS or len(texts) >= BATCH_RECORDS:
                yield rows
                texts, rows = _new_rows()
                characters = 0
        yield rows

    def sample(self) -> list[dict[str, Any]]:
        """Fields of the first lines. Raises `CorpusError` if none of them is a record."""
        found, problems = [], []
        for number, line in enumerate(islice(self._lines(), _SAMPLED), start=1):
            if self.skips_empty and not line.strip():
                continue
            try:
                found.append(self.parse(_decoded(line, number))[1])
            except _Problem as problem:
                problems.append(str(problem))
        if problems and not found:
            self.fail(f"no line is a record; in the first one {problems[0]}", self.advice)
        return found

    def _lines(self) -> Iterator[bytes]:
        try:
            with open_bytes(self.path) as stream:
                yield from stream
        except _DAMAGED as error:
            self.fail(str(error), "Repair the file, or leave it out")


@dataclass(frozen=True)
class TextSource(LineSource):
    """Plain text: each line is a text, an empty one too."""

    suffixes = (".txt", *(f".txt{end}" for end in COMPRESSED))
    advice = "Give UTF-8 text, a text a line"

    def parse(self, line: str) -> tuple[Any, dict[str, Any]]:
        return line, {}


@dataclass(frozen=True)
class JsonSource(LineSource):
    """A JSON object a line."""

    suffixes = (".jsonl", *(f".jsonl{end}" for end in COMPRESSED))
    skips_empty = True
    advice = "Correct the lines, or name the field with the text with --text"

    def parse(self, line: str) -> tuple[Any, dict[str, Any]]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _Problem(f"the line is no JSON: {error}") from error
        if not isinstance(record, dict):
            raise _Problem(f"the line is no JSON object, but {type(record).__name__}")
        if self.names.text not in record:
            fields = ", ".join(record) or "none"
            raise _Problem(f"there is no field '{self.names.text}'; the fields are {fields}")
        if self.names.results in record:
            raise _Problem(f"there is a field '{self.names.results}' already")
        return record.pop(self.names.text), record

    def columns(self) -> dict[str, str | None]:
        found: dict[str, set[str | None]] = {}
        for fields in self.sample():
            for name, value in fields.items():
                if value is not None:
                    found.setdefault(name, set()).add(_SCALARS.get(type(value)))
                else:
                    found.setdefault(name, set())
        return {name: _common(types) for name, types in found.items() if is_valid(name)}

    @property
    def has_open_columns(self) -> bool:
        return True


def _new_rows() -> tuple[list[Any], Rows]:
    """Rows that are empty, and the list of their texts."""
    texts: list[Any] = []
    return texts, Rows([], texts, [], [])


def _common(types: set[str | None]) -> str | None:
    if types == {"int64", "float64"}:
        return "float64"
    return next(iter(types)) if len(types) == 1 else None


def _decoded(line: bytes, number: int) -> str:
    if number == 1:
        line = line.removeprefix(_MARK)
    try:
        return line.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise _Problem(f"the line is not UTF-8: {error.reason} at byte {error.start}") from error
