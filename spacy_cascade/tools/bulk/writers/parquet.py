"""Parquet, with the same schema in all shards."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from spacy.tokens import Doc

from ..columns import fitted, to_arrow
from ..entities import Entity, arrow_type
from ..extras import arrow, parquet
from ..frames import as_dicts
from ..layout import Layout
from ..sources.base import Fields
from .base import Found, Writer


class ParquetWriter(Writer):
    """A row group for each batch."""

    suffix = ".parquet"
    takes_arrow = True

    def __init__(self, path: Path, layout: Layout, schema: Any) -> None:
        super().__init__(path, layout, schema)
        self._columns = {column.name: column.type for column in schema}
        self._file = parquet().ParquetWriter(path, schema, compression="zstd")

    def row(
        self, doc: Doc, text: str, entities: list[Entity], fields: Fields, i: int
    ) -> tuple[str, list[Entity], dict[str, Any] | None]:
        """Text, entities, and the other columns unless they are columns of Arrow already."""
        others = fitted(fields[i], self._columns) if isinstance(fields, list) else None
        return text, entities, others

    def write(self, found: list[Found], fields: Fields) -> None:
        pa, layout = arrow(), self.layout
        texts, entities, others = zip(*(one.row for one in found), strict=True)
        columns = to_arrow(list(others) if isinstance(fields, list) else fields, self.schema)
        if layout.keeps_text:
            place = self.schema.get_field_index(layout.names.text)
            columns[place] = pa.array(texts, pa.string())
        columns[-1] = pa.array(as_dicts(list(entities)), arrow_type(pa))
        self._file.write_batch(pa.RecordBatch.from_arrays(columns, schema=self.schema))

    def close(self) -> None:
        self._file.close()

    def abandon(self) -> None:
        with suppress(OSError):
            self._file.close()
