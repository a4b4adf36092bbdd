"""JSONL: a JSON object a line."""

from __future__ import annotations

import gzip
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from spacy.tokens import Doc

from ..entities import Entity
from ..layout import Layout
from ..plain_json import as_json
from ..sources.base import Fields
from .base import Found, Writer

_LEVEL = 6


class JsonWriter(Writer):
    """A line for each record: id, text, other columns, entities."""

    suffix = ".jsonl"

    def __init__(self, path: Path, layout: Layout, schema: Any) -> None:
        super().__init__(path, layout, schema)
        self._files = self._opened()

    def _opened(self) -> list[IO[bytes]]:
        """The file to write to, and those below it."""
        return [self.path.open("wb")]

    def row(self, doc: Doc, text: str, entities: list[Entity], fields: Fields, i: int) -> bytes:
        names, others = self.layout.names, fields[i]
        record = {names.record: others[names.record]}
        if self.layout.keeps_text:
            record[names.text] = text
        record.update(others)
        record[names.results] = [entity._asdict() for entity in entities]
        return as_json(record).encode() + b"\n"

    def write(self, found: list[Found], fields: Fields) -> None:
        self._files[0].writelines(one.row for one in found)

    def close(self) -> None:
        for file in self._files:
            file.close()

    def abandon(self) -> None:
        # What is buffered cannot be written. Python 3.13 prints an error for a file that finds this
        # out when it is collected.
        for file in self._files:
            with suppress(OSError):
                file.close()


class GzipJsonWriter(JsonWriter):
    """The same, compressed."""

    suffix = ".jsonl.gz"

    def _opened(self) -> list[IO[bytes]]:
        (below,) = super()._opened()
        # Without a name and a time, so that the same results are the same bytes.
        opened: Any = gzip.GzipFile("", "wb", _LEVEL, below, mtime=0)
        return [opened, below]
