"""JSONL: a JSON object a line."""

from __future__ import annotations

import base64
import gzip
import json
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from ..layout import Layout
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

    def write(self, found: list[Found], fields: Fields) -> None:
        layout = self.layout
        for one, others in zip(found, fields, strict=True):
            record = {layout.names.record: others[layout.names.record]}
            if layout.keeps_text:
                record[layout.names.text] = one.text
            record.update(others)
            record[layout.names.results] = [entity._asdict() for entity in one.entities]
            self._files[0].write(as_json(record).encode() + b"\n")

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


def as_json(value: Any) -> str:
    """A value as JSON; half a surrogate pair is escaped, since UTF-8 cannot have it."""
    text = json.dumps(value, ensure_ascii=False, default=plain)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, default=plain)
    return text


def plain(value: Any) -> Any:
    """What JSON can hold of a value that it has no type for, such as a date."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
