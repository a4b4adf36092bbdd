"""Spreadsheets with annotation: what the two formats of them share.

The names in the first row tell the columns. A row is a word with its tag, or a text with the list
of its entities, in Python or JSON.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from ....errors import CorpusError
from ..docs import SUFFIXES as COLUMN_FILES
from ..spreadsheets import SUFFIXES, WORKBOOKS, Line, read_workbook, rows_of
from .source import Source

SENTENCES = {"sentence #", "sentence_id", "sentence id", "sentenceid", "sentence_number", "sent_id",
              "sentence_idx", "sentence no", "sent", "sentence"}  # fmt: skip
DOCUMENTS = {"document", "document_id", "doc", "doc_id", "docid", "file", "filename", "file_name",
              "article_id"}  # fmt: skip
_WORDS = {"word", "words", "token", "tokens", "form"}
_TEXTS = {"text", "texts", "content", "sentence", "sentences", "abstract", "body", "message"}
ANNOTATION = {"tag", "tags", "ner", "ner_tag", "ner_tags", "ne", "ne_tag", "bio", "iob", "iob2",
               "bio_tag", "iob_tag", "label", "labels", "entity", "entities", "ents", "span",
               "spans", "annotation", "annotations"}  # fmt: skip
NAMES = {"id", "document_id", "doc_id", "document", "doc", "name"}
_ROW_OF_ENTITY = {"start", "end"}
_LOOKED_AT, _LONG = 200, 1000
"""Rows that tell what a file is, and about how many characters are enough for one."""


@dataclass(frozen=True)
class Sheet:
    """The rows of a file, whose name says whether it is surely a table.

    header: the names of its columns, if its first row has known ones. A table may have texts alone.
    """

    lines: Sequence[Line]
    is_table: bool

    @cached_property
    def header(self) -> list[str]:
        first = [cell.strip().lower() for cell in self.lines[0].cells] if self.lines else []
        has_annotation = {*first} & ANNOTATION and {*first} & (_WORDS | _TEXTS)
        has_texts = self.is_table and {*first} & _TEXTS and not {*first} & _WORDS
        return first if has_annotation or has_texts else []

    @property
    def body(self) -> Sequence[Line]:
        """The rows below the names."""
        return self.lines[bool(self.header) :]

    def column(self, names: set[str], but: int | None = None) -> int | None:
        """The first column with one of the names, if there is one."""
        found = (i for i, name in enumerate(self.header) if name in names and i != but)
        return next(found, None)

    @property
    def annotation(self) -> int | None:
        """The column of tags, or of lists of entities."""
        return self.column(ANNOTATION)

    @property
    def main(self) -> int | None:
        """The column of words, or else of texts."""
        words = self.column(_WORDS)
        return self.column(_TEXTS) if words is None else words

    @property
    def has_lists(self) -> bool:
        """Whether cells of annotation are lists."""
        return self.first_cell.startswith(("[", "{"))

    @property
    def has_words(self) -> bool:
        """Whether they are tags, or lists of tags."""
        if self.has_lists:
            found = value_in(self.first_cell)
            is_list = isinstance(found, list) and bool(found)
            return is_list and all(isinstance(one, str) for one in found)
        return bool(self.first_cell) or self.column(_WORDS) is not None

    @property
    def first_cell(self) -> str:
        """The first annotation that is no empty list."""
        at = self.annotation
        cells = (
            one.cells[at].strip() for one in self.body if at is not None and at < len(one.cells)
        )
        kept = [cell for cell in cells if cell]
        return next((cell for cell in kept if cell != "[]"), kept[0] if kept else "")


def is_table(source: Source) -> bool:
    """Whether the name of a file is one of a spreadsheet, and not also of a column file."""
    return source.path.suffix.lower() in {*SUFFIXES} - {*COLUMN_FILES}


def head_of(source: Source) -> Sheet:
    """The first rows of a file that may be a sheet; none of one that is something else."""
    lines: list[Line] = []
    with suppress(CorpusError):
        if source.path.suffix.lower() in WORKBOOKS:
            lines = read_workbook(source.path, _LOOKED_AT).lines
        elif not source.is_json:
            # What is cut at the end is an error behind the rows that count.
            rows = rows_of(source.path, source.start[: _LOOKED_AT * _LONG])
            lines.extend(islice(rows, _LOOKED_AT))
    return Sheet(lines, is_table(source))


def sheet_of(source: Source) -> Sheet:
    """All rows. Raises `CorpusError` for what is not annotated as sheets are."""
    sheet = Sheet(source.spreadsheet.lines, is_table(source))
    if {*sheet.header} >= _ROW_OF_ENTITY:
        raise CorpusError(
            f"{source.path}:1: each row is an entity, and the texts that it is in are missing. "
            "Give a row for each text: its text, and the list of its entities as [(start, end, "
            "label), …]."
        )
    return sheet


def value_in(cell: str) -> Any:
    """The value of JSON or of Python in a cell; None if it is neither, or JSON has none such."""
    for read in (json.loads, ast.literal_eval):
        try:
            value = read(cell.strip())
            json.dumps(value)  # Python has sets, too.
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            continue
        return value
    return None


def unknown_columns(path: Path, sheet: Sheet) -> CorpusError:
    shown = ", ".join(sheet.lines[0].cells) if sheet.lines else "none"
    return CorpusError(
        f"{path}:1: the columns are not known: {shown}. Name them in the first row: word and tag "
        "for a word a row, text and entities for a text a row. Or give the numbers of the columns: "
        "--word-column 0 --tag-column 1."
    )
