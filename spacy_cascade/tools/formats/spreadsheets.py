"""Spreadsheets as rows of cells: CSV with commas, semicolons or tabs, and Excel workbooks."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, time
from pathlib import Path
from typing import Any

from ... import extras
from ...errors import CorpusError
from .encodings import decoded, seeming_encoding

WORKBOOKS = (".xlsx", ".xlsm")
SUFFIXES = (".csv", ".tsv", ".tab", *WORKBOOKS)
_SEPARATORS = (",", ";", "\t")
_HINT = "sep="
"""Begins a first line that tells Excel which character separates the cells."""
_LONGEST_CELL = 2**31 - 1


@dataclass(frozen=True)
class Line:
    """A row of cells; number: of its first line in the file, or of its row in the workbook."""

    number: int
    cells: list[str]

    @property
    def is_blank(self) -> bool:
        """Whether no cell has anything but white space."""
        return not any(cell.strip() for cell in self.cells)


@dataclass(frozen=True)
class Spreadsheet:
    """The rows of a file. notes: what was understood of it that it does not say itself."""

    lines: list[Line]
    notes: list[str] = field(default_factory=list)


def read_spreadsheet(path: Path, encoding: str | None = None) -> Spreadsheet:
    """The rows of a CSV file or of the first sheet of a workbook.

    encoding: None for the one that a byte order mark tells, UTF-8, or else the one that the bytes
    seem to have, with a note.

    Raises `CorpusError` for a file that is damaged, and `ConfigError` where a workbook needs the
    extra `formats`.
    """
    if path.suffix.lower() in WORKBOOKS:
        return read_workbook(path)
    data = path.read_bytes()
    notes: list[str] = []
    try:
        text = decoded(path, data, encoding)
    except CorpusError:
        seeming = None if encoding else seeming_encoding(data)
        if seeming is None:
            raise
        text = data.decode(seeming)
        notes.append(f"the encoding {seeming}, as it is not UTF-8")
    return Spreadsheet(list(rows_of(path, text)), notes)


def rows_of(path: Path, text: str) -> Iterator[Line]:
    """The rows of a CSV file with this text. Raises `CorpusError` where cells are damaged."""
    head, _, rest = text.partition("\n")
    n_before = int(head.lower().startswith(_HINT) and len(head.strip()) == len(_HINT) + 1)
    separator = head.strip()[-1] if n_before else _separator(head)
    body = rest if n_before else text
    is_quoted = separator != "\t" or not _has_bare_quotes(body)
    try:
        yield from _parsed(body, separator, n_before, is_quoted=is_quoted)
    except csv.Error as error:
        raise CorpusError(
            f"{path}: the cells cannot be told apart ({error}). A cell with a quotation mark is "
            'written as in "a ""quoted"" word". Save the file as CSV again, from a spreadsheet.'
        ) from error


def _parsed(text: str, separator: str, n_before: int, *, is_quoted: bool) -> Iterator[Line]:
    with _long_cells():
        reader = csv.reader(
            io.StringIO(text, newline=""), delimiter=separator, strict=is_quoted,
            quoting=csv.QUOTE_MINIMAL if is_quoted else csv.QUOTE_NONE,
        )  # fmt: skip
        end = 0
        for cells in reader:
            yield Line(n_before + end + 1, cells)
            end = reader.line_num


@contextmanager
def _long_cells() -> Iterator[None]:
    """A cell may hold a whole document; Python's own limit holds for all who read CSV."""
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _separator(head: str) -> str:
    """The separator that gives the first line most cells."""
    line = head.replace("\r", " ")
    return max(_SEPARATORS, key=lambda one: len(next(csv.reader([line], delimiter=one), [])))


def _has_bare_quotes(text: str) -> bool:
    """Whether a quote between tabs is a word: each line is a row, and some quotes have no end."""
    lines = [line.split("\t") for line in text.splitlines() if line.strip()]
    if len({*map(len, lines)}) > 1:
        return False
    cells = (cell for line in lines for cell in line if '"' in cell)
    return any(
        len(cell) < 2 or not (cell[0] == cell[-1] == '"') or cell[1:-1].count('"') % 2
        for cell in cells
    )


def read_workbook(path: Path, most: int | None = None) -> Spreadsheet:
    """The first sheet with cells; most: the number of rows to read, if not all."""
    openpyxl = extras.library("openpyxl", "formats", "Reading a workbook of Excel")
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            sheets = [one for one in book.worksheets if next(one.iter_rows(), ())]
            rows = sheets[0].iter_rows(max_row=most, values_only=True) if sheets else ()
            lines = [Line(number, _texts(row)) for number, row in enumerate(rows, start=1)]
        finally:
            book.close()
    except Exception as error:  # openpyxl takes what stands there for what it should be
        raise CorpusError(
            f"{path} is no workbook that can be read ({error}). Open it in a spreadsheet, and save "
            "it as .xlsx or .csv."
        ) from error
    others = ", ".join(sheet.title for sheet in sheets[1:])
    notes = [f"its sheet {sheets[0].title!r} alone, not {others}"] if others else []
    return Spreadsheet(lines, notes)


def _texts(cells: Sequence[Any]) -> list[str]:
    return ["" if cell is None else _text(cell) for cell in cells]


def _text(cell: Any) -> str:
    """A cell as a spreadsheet shows it: whole numbers without a point, days without a time."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date().isoformat()
    return str(cell)
