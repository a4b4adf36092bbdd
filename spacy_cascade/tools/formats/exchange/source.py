"""A file to read: its text, its JSON, and errors that name file and line."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, NoReturn

from ....caching import cached_property
from ....errors import CorpusError
from ..bad_records import OnBad, raised
from ..encodings import decoded
from ..spreadsheets import Spreadsheet, read_spreadsheet

_PAIR_START = re.compile(r'\s*\[\s*"(?:[^"\\]|\\.)*"\s*,')
"""A list of a text and something else, as in a line of spaCy 2's training data."""
_JSON_START = re.compile(
    r'\s*(\{\s*["}]|\[\s*(\{|\]|\[\s*["\[\{]|null\s*,))|' + _PAIR_START.pattern
)
_JSON_SPACE = re.compile(r"[ \t\r\n,]*")
_DECODER = json.JSONDecoder()
_SHOWN_CHARACTERS = 80
_OFFSETS = [
    ("start", "end"), ("start_offset", "end_offset"), ("startOffset", "endOffset"),
    ("begin", "end"), ("offset", "length"),
]  # fmt: skip
_LABELS = ("label", "type", "entity", "tag", "category", "class")
"""Words in the names under which tools write offsets and labels."""


@dataclass(frozen=True, slots=True)
class Row:
    """A JSON object of a file; line: on which it begins, from 1."""

    value: dict[str, Any]
    line: int
    path: Path

    @property
    def where(self) -> str:
        """The place, for messages."""
        return f"{self.path}:{self.line}"

    def fail(self, problem: str, advice: str) -> NoReturn:
        """Raise the error of this place."""
        raise self.error(problem, advice)

    def error(self, problem: str, advice: str) -> CorpusError:
        """The error of this place, to be raised or kept."""
        shown = json.dumps(self.value, ensure_ascii=True)
        shown = shown if len(shown) <= _SHOWN_CHARACTERS else f"{shown[:_SHOWN_CHARACTERS]}…"
        return CorpusError(f"{self.where}: {problem}, in {shown}. {advice}.")

    def refuse_other_spans(self, known: Container[str]) -> None:
        """Raise `CorpusError` for spans under a name that a format does not know.

        A text whose spans were not read would be taken for one without entities.
        """
        for name, value in self.value.items():
            if name not in known and isinstance(value, list) and any(map(_is_span, value)):
                self.fail(
                    f"the spans under {name!r} are not read",
                    "Choose another format by --format, or rename the field",
                )

    def list_of(self, name: str) -> list[Any]:
        """The list under a name, empty if there is none or null."""
        value = self.value.get(name)
        if value is not None and not isinstance(value, list):
            self.fail(f"{name!r} is no list", "Correct it")
        return value or []


def _is_span(value: Any) -> bool:
    """Whether a value is a pair of offsets with a label."""
    if isinstance(value, list):
        return list(map(type, value[:3])) == [int, int, str]
    if not isinstance(value, dict):
        return False
    has_offsets = any(
        type(value.get(start)) is int and type(value.get(end)) is int for start, end in _OFFSETS
    )
    return has_offsets and any(word in name.lower() for name in value for word in _LABELS)


@dataclass(frozen=True)
class Source:
    """A file, or a folder that holds one corpus; what is read of it is kept.

    encoding: None for the one that a byte order mark tells, or UTF-8.
    """

    path: Path
    encoding: str | None = None

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.path.is_dir()

    @cached_property
    def data(self) -> bytes:
        """All bytes."""
        return b"" if self.is_folder else self.path.read_bytes()

    @cached_property
    def start(self) -> str:
        """The text, where bytes that are not UTF-8 are replaced: to recognise a format by."""
        try:
            return decoded(self.path, self.data, self.encoding, errors="replace")
        except CorpusError:
            return self.data.decode("utf-8-sig", errors="replace")

    @cached_property
    def text(self) -> str:
        """Raises `CorpusError` for a file that is empty or not UTF-8."""
        text = decoded(self.path, self.data, self.encoding)
        if not text.strip():
            raise CorpusError(f"{self.path} is empty. Give a file with annotated texts.")
        return text

    @cached_property
    def lines(self) -> list[str]:
        """All lines, decoded."""
        return [line.removesuffix("\r") for line in self.text.split("\n")]

    @cached_property
    def spreadsheet(self) -> Spreadsheet:
        """The rows of a CSV file or of a workbook. Raises `CorpusError` for a damaged file."""
        return read_spreadsheet(self.path, self.encoding)

    def blocks(self) -> Iterator[list[tuple[int, str]]]:
        """The lines between blank lines, with their numbers, from 1."""
        numbered = enumerate(self.lines, start=1)
        for is_text, lines in groupby(numbered, lambda line: bool(line[1].strip())):
            if is_text:
                yield list(lines)

    @cached_property
    def _shown_lines(self) -> list[str]:
        return self.start.split("\n")

    @cached_property
    def is_json(self) -> bool:
        """Whether the text begins as JSON does."""
        return _JSON_START.match(self.start) is not None

    @cached_property
    def is_list(self) -> bool:
        """Whether the JSON is one list, in place of one value after the other."""
        is_pair = _PAIR_START.match(self.start) is not None
        return self.is_json and self.start.lstrip().startswith("[") and not is_pair

    @cached_property
    def first(self) -> dict[str, Any]:
        """The first object of a JSON file that can be read; empty if there is none."""
        return next((value for value in self._readable_values() if isinstance(value, dict)), {})

    @cached_property
    def first_value(self) -> Any:
        """The first value of a JSON file that can be read, be it an object or not; else None."""
        return next(self._readable_values(), None)

    def _readable_values(self) -> Iterator[Any]:
        with suppress(CorpusError):
            values = self.values(lambda error: None) if self.is_json else iter(())
            yield from (value for value, _ in values)

    def rows(self, on_bad: OnBad = raised) -> Iterator[Row]:
        """The objects of JSON Lines, of JSON objects after each other, or of one JSON list.

        on_bad: takes the error of what is no JSON object.
        """
        for value, line in self.values(on_bad):
            if isinstance(value, dict):
                yield Row(value, line, self.path)
            else:
                problem = "a JSON object was expected"
                on_bad(self.error(line, problem, "Give one object for each text"))

    def values(self, on_bad: OnBad = raised) -> Iterator[tuple[Any, int]]:
        """The JSON values as `rows` reads them, be they objects or not, with their lines."""
        text, is_list = self.text, self.is_list
        at = text.index("[") + 1 if is_list else 0
        line, counted = 1, 0
        while True:
            at = _JSON_SPACE.match(text, at).end()  # type: ignore[union-attr]
            line, counted = line + text.count("\n", counted, at), at
            if at == len(text) and not is_list:
                return
            if is_list and text.startswith("]", at):
                if rest := text[at + 1 :].strip():
                    advice = "Make it one list, or one object after the other"
                    line += text.count("\n", at, text.index(rest, at + 1))
                    self.fail(line, "there is more after the end of the list", advice)
                return
            try:
                value, at = _DECODER.raw_decode(text, at)
            except (ValueError, RecursionError) as error:
                following = _next_record(text, at)
                is_rest = is_list and following is None
                rest = ", so that nothing behind it can be read either" if is_rest else ""
                problem = f"the JSON that begins here is cut or damaged ({error}){rest}"
                on_bad(self.error(line, problem, "Mend it"))
                if following is None:
                    return
                at = following
                continue
            yield value, line

    def fail(self, line: int, problem: str, advice: str) -> NoReturn:
        """Raise a `CorpusError` about a line, counted from 1."""
        raise self.error(line, problem, advice)

    def error(self, line: int, problem: str, advice: str) -> CorpusError:
        """The error of a place in it, to be raised or kept."""
        lines = self._shown_lines
        shown = lines[line - 1][:_SHOWN_CHARACTERS].rstrip("\r") if line <= len(lines) else ""
        return CorpusError(f"{self.path}:{line}: {problem}, in {shown!r}. {advice}.")


def _next_record(text: str, at: int) -> int | None:
    """Where the object behind a damaged one may begin: on a line that is indented as its own."""
    line = text[text.rfind("\n", 0, at) + 1 : at + 1]
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    found = re.compile(rf"\n{indent}(?=[^\s\]}}])").search(text, at)
    return None if found is None else found.end()
