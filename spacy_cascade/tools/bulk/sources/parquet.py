"""Parquet files, by pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from ..extras import arrow, parquet
from .base import BATCH_CHARACTERS, BATCH_RECORDS, Range, Rows, Source, Unreadable, values_of


@dataclass(frozen=True)
class ParquetSource(Source):
    """A Parquet file with a column of texts; its other columns keep their types."""

    suffixes = (".parquet",)

    def ranges(self, size: int) -> Iterator[Range]:
        metadata = self._opened_for_plan().metadata
        rows = metadata.num_rows
        if not rows:
            return
        bytes_of_row = max(1, self._text_bytes(metadata) // rows)
        step = max(1, size // bytes_of_row)
        for first in range(0, rows, step):
            count = min(step, rows - first)
            yield Range(first, count, 0, count * bytes_of_row)

    def read(self, wanted: Range) -> Iterator[Rows]:
        first, end = wanted.first, wanted.first + wanted.length
        try:
            for batch in self._batches(first, end):
                numbers = list(range(first + 1, first + batch.num_rows + 1))
                place = batch.schema.get_field_index(self.names.text)
                texts = values_of(batch.column(place))
                yield Rows(numbers, texts, batch.remove_column(place), [])
                first += batch.num_rows
        except (arrow().ArrowException, OSError) as error:
            reason = f"cannot read the file: {' '.join(str(error).split())}"
            yield Rows([], [], [], [Unreadable(first + 1, end, reason)])

    def columns(self) -> dict[str, Any]:
        schema = self._opened_for_plan().schema_arrow
        return {field.name: field.type for field in schema if field.name != self.names.text}

    def _batches(self, first: int, end: int) -> Iterator[Any]:
        """Rows of a file from the first one to the end (exclusive)."""
        with parquet().ParquetFile(self.path) as file:
            sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
            ends = list(accumulate(sizes))
            chosen = [i for i, size in enumerate(sizes) if ends[i] > first and ends[i] - size < end]
            position = ends[chosen[0]] - sizes[chosen[0]]
            rows = self._rows_of_batch(file.metadata)
            for batch in file.iter_batches(batch_size=rows, row_groups=chosen):
                skipped = max(0, first - position)
                wanted = batch.slice(skipped, max(0, end - position - skipped))
                position += batch.num_rows
                if wanted.num_rows:
                    yield wanted
                if position >= end:
                    return

    def _rows_of_batch(self, metadata: Any) -> int:
        bytes_of_row = max(1, self._text_bytes(metadata) // max(1, int(metadata.num_rows)))
        return min(BATCH_RECORDS, max(1, BATCH_CHARACTERS // bytes_of_row))

    def _text_bytes(self, metadata: Any) -> int:
        """Size of the column of texts without compression."""
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        columns = (group.column(j) for group in groups for j in range(group.num_columns))
        sizes = [
            int(column.total_uncompressed_size)
            for column in columns
            if column.path_in_schema == self.names.text
        ]
        return sum(sizes)

    def _opened_for_plan(self) -> Any:
        """The file. Raises `CorpusError` if it is damaged or has no texts."""
        pa = arrow()
        try:
            file = parquet().ParquetFile(self.path)
        except (pa.ArrowException, OSError) as error:
            reason = " ".join(str(error).split())
            self.fail(reason, "Repair the file, or leave it out")
        schema, text = file.schema_arrow, self.names.text
        if schema.get_field_index(text) < 0:
            self.fail(
                f"there is no column '{text}'; the columns are {', '.join(schema.names)}",
                "Name the column with the text with --text",
            )
        if not _is_text(pa, schema.field(text).type):
            self.fail(
                f"the column '{text}' has values of type {schema.field(text).type}, not texts",
                "Name the column with the text with --text",
            )
        return file


def _is_text(pa: Any, kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_text(pa, kind.value_type)
    return any(check(kind) for check in (pa.types.is_string, pa.types.is_large_string))
