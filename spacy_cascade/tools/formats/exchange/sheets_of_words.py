"""Spreadsheets with a word a row and its tag; the sentence is named in its first row, or in each.

The words of a sentence and their tags may also be two lists in the cells of one row.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import ClassVar

from ..bad_records import OnBad
from ..columns import Document, ReadOptions, read_table
from ..spreadsheets import SUFFIXES, Line
from ..table import DOCUMENT_MARK, Table, tag_columns
from ..table import Row as TableRow
from ..tags import MISSING, OUTSIDE, split_tag
from .base import FormatOptions, WordFormat
from .sheets import (
    ANNOTATION,
    DOCUMENTS,
    SENTENCES,
    Sheet,
    head_of,
    is_table,
    sheet_of,
    unknown_columns,
    value_in,
)
from .source import Row, Source


class SheetOfWords(WordFormat):
    """A word a row with its tag; or the words of a sentence and their tags as lists in cells."""

    name: ClassVar[str] = "csv-words"
    suffixes: ClassVar[tuple[str, ...]] = SUFFIXES

    def recognises(self, source: Source) -> bool:
        head = head_of(source)
        return head.has_words if head.header else is_table(source)

    def read(self, source: Source, options: FormatOptions) -> list[Document]:
        sheet = sheet_of(source)
        for note in source.spreadsheet.notes:
            warnings.warn(f"{source.path}: read with {note}.", stacklevel=2)
        lines = list(sheet.body)
        if sheet.header and sheet.has_lists:
            lines = list(_unfolded(sheet, source, options.on_bad))
        columns = _columns(sheet, lines, options.columns)
        if columns is None:
            raise unknown_columns(source.path, sheet)
        if not sheet.header:
            lines = _without_names(lines, columns)
        table = Table([*_words(sheet, lines, columns, source)])
        shown = [""] * max((line.number for line in sheet.lines), default=0)
        for line in sheet.lines:
            shown[line.number - 1] = ",".join(line.cells)
        return read_table(source.path, table, shown, columns, options.on_bad)


def _columns(sheet: Sheet, lines: Sequence[Line], options: ReadOptions) -> ReadOptions | None:
    """The options with the columns of words and of tags by their names; None if none are known.

    Several columns with names of tags are told apart by what they have.
    """
    if sheet.header:
        if options.word_column == "auto" and sheet.main is not None:
            options = replace(options, word_column=sheet.main)
        named = [i for i, name in enumerate(sheet.header) if name in ANNOTATION]
        if options.tag_column == "auto" and len(named) == 1:
            options = replace(options, tag_column=named[0])
        return options
    known = [line.cells for line in lines if not line.is_blank]
    width = min(map(len, known), default=0)
    are_known = options.tag_column != "auto" or any(
        tag_columns([rows], [], width) for rows in (known, known[1:])
    )
    return options if are_known else None


def _without_names(lines: list[Line], options: ReadOptions) -> list[Line]:
    """The rows without a first one of names, which has no tag."""
    first = lines[0].cells if lines else []
    is_word = any(cell.strip() == OUTSIDE or ("-" in cell and split_tag(cell)[0]) for cell in first)
    return lines if is_word else lines[1:]


def _unfolded(sheet: Sheet, source: Source, on_bad: OnBad) -> Iterator[Line]:
    """A row for each word of rows that have lists, and a blank row behind each of them."""
    main, tags = sheet.main, sheet.annotation
    assert main is not None, "a header has a column of words"
    assert tags is not None, "a header has a column of tags"
    for line in sheet.body:
        if line.is_blank:
            continue
        named = dict(zip_longest(range(len(sheet.header)), line.cells, fillvalue=""))
        words, given = value_in(named[main]), value_in(named[tags])
        words = words if isinstance(words, list) else named[main].split()
        if not isinstance(given, list) or len(given) != len(words):
            row = Row({"words": words, "tags": given}, line.number, source.path)
            on_bad(row.error("there is not one tag for each word", "Give each word its tag"))
            continue
        for word, tag in zip(words, given, strict=True):
            cells = [""] * len(sheet.header)
            cells[main], cells[tags] = str(word), str(tag)
            yield Line(line.number, cells)
        yield Line(line.number, [])


def _words(
    sheet: Sheet, lines: Sequence[Line], options: ReadOptions, source: Source
) -> Iterator[TableRow]:
    """The rows of a table, with blank rows between sentences and marks between documents."""
    width = len(sheet.header) or max((len(line.cells) for line in lines), default=0)
    tag = options.tag_column if type(options.tag_column) is int else None
    filled = _filled(lines, tag, source)
    is_new_document = _changes(sheet.column(DOCUMENTS, but=sheet.main), lines)
    is_new_sentence = _changes(sheet.column(SENTENCES, but=sheet.main), lines)
    for line in lines:
        if is_new_document(line):
            yield TableRow(line.number, DOCUMENT_MARK, [DOCUMENT_MARK])
        if is_new_sentence(line) or line.is_blank:
            yield TableRow(line.number, "", [])
        if not line.is_blank:
            cells = [*line.cells, *[""] * (width - len(line.cells))]
            if tag is not None and not cells[tag].strip():
                cells[tag] = filled
            _refuse_line_breaks(cells, line, source)
            yield TableRow(line.number, " " + ",".join(cells), cells)


def _filled(lines: Sequence[Line], tag: int | None, source: Source) -> str:
    """What stands for an empty tag: outside where no word is tagged so, else not annotated."""
    if tag is None:
        return ""
    tags = [
        line.cells[tag].strip() if _has(line, tag) else "" for line in lines if not line.is_blank
    ]
    has_outside = OUTSIDE in tags
    n = tags.count("")
    if n:
        meaning = "are not annotated" if has_outside else "are outside of entities"
        warnings.warn(f"{source.path}: {n:,} words without a tag {meaning}.", stacklevel=2)
    return next(iter(MISSING)) if has_outside else OUTSIDE


def _changes(column: int | None, lines: Sequence[Line]) -> Callable[[Line], bool]:
    """Whether a row begins something new, by a column that names it in each row or the first."""
    before = ""
    named = (
        [line.cells[column] for line in lines if not line.is_blank and _has(line, column)]
        if column is not None
        else []
    )
    is_first_only = "" in (name.strip() for name in named)

    def is_new(line: Line) -> bool:
        nonlocal before
        found = line.cells[column].strip() if column is not None and _has(line, column) else ""
        changed = bool(found) and (is_first_only or found != before)
        before = found or before
        return changed

    return is_new


def _has(line: Line, column: int | None) -> bool:
    return column is not None and column < len(line.cells)


def _refuse_line_breaks(cells: Sequence[str], line: Line, source: Source) -> None:
    """Raise `CorpusError` for a word of several lines: a quote has swallowed the rows below it."""
    broken = next((cell for cell in cells if "\n" in cell.strip()), None)
    if broken is not None:
        source.fail(
            line.number, f"a cell goes over {broken.count(chr(10)) + 1} lines: {broken[:80]!r}",
            'A cell that is a quotation mark is written """"; save the file as CSV again',
        )  # fmt: skip
