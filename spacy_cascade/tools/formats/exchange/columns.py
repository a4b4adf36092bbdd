"""Column files: one word on each line, with its tags."""

from __future__ import annotations

from typing import ClassVar

from ..columns import Document, read_columns
from .base import FormatOptions, WordFormat
from .source import Source


class Columns(WordFormat):
    """What no other format recognises and is no JSON, XML or folder."""

    name: ClassVar[str] = "columns"
    suffixes: ClassVar[tuple[str, ...]] = (
        ".iob", ".iob2", ".conll", ".tsv", ".txt", ".bio", ".bilou",
    )  # fmt: skip

    def recognises(self, source: Source) -> bool:
        return False

    def read(self, source: Source, options: FormatOptions) -> list[Document]:
        found = read_columns(source.path, options.columns, source.encoding, options.on_bad)
        return list(found)
