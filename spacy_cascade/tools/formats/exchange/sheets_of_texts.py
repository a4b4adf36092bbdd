"""Spreadsheets with a text a row, and the list of its entities in a cell.

The list is Python or JSON, as `[(0, 3, 'PER')]` or `[{"start": 0, "end": 3, "label": "PER"}]`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from ....cli.output import write_table
from ....errors import CorpusError
from ..spreadsheets import SUFFIXES
from ..texts import AnnotatedText, Record
from .base import FormatOptions, scores_of
from .sheets import NAMES, Sheet, head_of, sheet_of, unknown_columns, value_in
from .source import Row, Source
from .span_rows import SpanRows


class SheetOfTexts(SpanRows):
    """A text a row, with the list of its entities in a cell."""

    name: ClassVar[str] = "csv-texts"
    suffixes: ClassVar[tuple[str, ...]] = SUFFIXES

    def recognises(self, source: Source) -> bool:
        head = head_of(source)
        return bool(head.header) and not head.has_words

    def rows(self, source: Source, options: FormatOptions) -> Iterator[Row]:
        return _rows(source, sheet_of(source), options)

    def read(self, source: Source, options: FormatOptions) -> Iterator[Record]:
        for one in super().read(source, options):
            if isinstance(one, AnnotatedText):
                notes = filter(None, [*source.spreadsheet.notes, one.reading])
                one = replace(one, reading=", ".join(notes))
            yield one

    def write(self, texts: Sequence[AnnotatedText], path: Path) -> None:
        rows = [
            {
                "id": text.name, "text": text.text,
                "entities": json.dumps([[m.start, m.end, m.label] for m in text.mentions],
                                       ensure_ascii=False),
                **{name: json.dumps(scores) for name, scores in scores_of(text).items()},
            }
            for text in texts
        ]  # fmt: skip
        has_scores = any("scores" in row for row in rows)
        write_table(path, rows, ["id", "text", "entities", *["scores"] * has_scores])


def _rows(source: Source, sheet: Sheet, options: FormatOptions) -> Iterator[Row]:
    """An object for each row; `options.on_bad` takes the errors of rows."""
    field = options.field.lower()
    text = sheet.header.index(field) if field in sheet.header else sheet.main
    spans = sheet.annotation
    if text is None:
        raise unknown_columns(source.path, sheet)
    name = sheet.column(NAMES, but=text)
    for line in sheet.body:
        if line.is_blank:
            continue
        cells = [*line.cells, *[""] * (len(sheet.header) - len(line.cells))]
        row = Row({"text": cells[text]}, line.number, source.path)
        if name is not None and cells[name]:
            row.value["id"] = cells[name]
        try:
            row.value["entities"] = None if spans is None else _entities(cells[spans], row)
        except CorpusError as error:
            options.on_bad(error)
        else:
            yield row


def _entities(cell: str, row: Row) -> Any:
    """The list in a cell; None if it is empty, so that nobody has annotated the text."""
    if not cell.strip() or cell.strip().lower() in ("nan", "none", "null"):
        return None
    found = value_in(cell)
    found = found.get("entities") if isinstance(found, dict) else found
    if not isinstance(found, list | tuple):
        row.fail(f"the cell {cell[:80]!r} is no list of entities", "Write it as [(0, 3, 'PER')]")
    return [list(one) if isinstance(one, tuple) else one for one in found]
