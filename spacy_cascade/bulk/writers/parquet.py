"""Parquet, with the same schema in all shards."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from ..columns import to_arrow
from ..entities import arrow_type
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
        self._file = parquet().ParquetWriter(path, schema, compression="zstd")

    def write(self, found: list[Found], fields: Fields) -> None:
        pa, layout = arrow(), self.layout
        columns = to_arrow(fields, self.schema)
        if layout.keeps_text:
            place = self.schema.get_field_index(layout.names.text)
            columns[place] = pa.array([one.text for one in found], pa.string())
        entities = as_dicts([one.entities for one in found])
        columns[-1] = pa.array(entities, arrow_type(pa))
        self._file.write_batch(pa.RecordBatch.from_arrays(columns, schema=self.schema))

    def close(self) -> None:
        self._file.close()

    def abandon(self) -> None:
        with suppress(OSError):
            self._file.close()
