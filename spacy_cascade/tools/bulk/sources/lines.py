"""Files with a record a line: plain text, and JSON."""

from __future__ import annotations

import json
import zlib
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from lzma import LZMAError
from typing import Any, ClassVar

from ....features.strings import is_valid
from .base import BATCH_CHARACTERS, BATCH_RECORDS, Range, Rows, Source, Unreadable
from .streams import COMPRESSED, ForwardReader, open_bytes

_DAMAGED = (OSError, EOFError, zlib.error, LZMAError)
_SAMPLED = 1000
"""Lines of a file that say which columns it has."""
_MARK = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8, which is no part of a text."""
_SCALARS = {bool: "bool", int: "int64", float: "float64", str: "string"}
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
