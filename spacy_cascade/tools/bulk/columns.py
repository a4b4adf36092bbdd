"""Columns of Parquet output: one schema for all shards, whatever kinds of files are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import ConfigError, CorpusError
from ...features.strings import is_valid
from .entities import arrow_type
from .extras import arrow
from .layout import Layout
from .plain_json import as_json
from .sources.base import Fields, Source

OTHER_FIELDS = "other_fields"
"""Column with what fits into no column of its own, as a JSON object."""


def check_names(sources: Sequence[Source], layout: Layout) -> None:
    """Raise `ConfigError` if an input has a column with the name of a new one."""
    for source in sources:
        for name in (layout.names.results, OTHER_FIELDS):
            if name in source.columns():
                raise ConfigError(
                    f"{source.path} has a column '{name}', as the output will have. Choose another "
                    "name for the results with --entities, or rename the column."
                )


def schema_of(sources: Sequence[Source], layout: Layout) -> Any:
    """The Arrow schema of all shards: id, text, the columns of the sources, entities.

    A column of JSON whose values differ in type becomes text. Raises `CorpusError` if two Parquet
    files differ in a column so that no type suits both.
    """
    pa, types = arrow(), dict[str, Any]()
    for source in sources:
        for name, given in source.columns().items():
            kind = _type(pa, given)
            if name in types and types[name] != kind:
                kind = _common(pa, name, types[name], kind, source)
            types[name] = kind
    record = layout.names.record
    if not all(record in source.columns() for source in sources):
        types[record] = pa.string()
    others = {name: kind for name, kind in types.items() if name != record}
    is_open = any(source.has_open_columns for source in sources)
    fields = [(record, types[record])]
    fields += [(layout.names.text, pa.string())] if layout.keeps_text else []
    fields += list(others.items())
    fields += [(OTHER_FIELDS, pa.string())] if is_open else []
    return pa.schema([*fields, (layout.names.results, arrow_type(pa))])


def _type(pa: Any, given: Any) -> Any:
    """An Arrow type of an Arrow type, its name, or None for values of several types."""
    if given is None:
        return pa.string()
    return pa.type_for_alias(given) if isinstance(given, str) else given


def _common(pa: Any, name: str, one: Any, other: Any, source: Source) -> Any:
    numbers = (pa.types.is_integer, pa.types.is_floating)
    if all(any(check(kind) for check in numbers) for kind in (one, other)):
        return pa.float64()
    simple = (*numbers, pa.types.is_string, pa.types.is_large_string, pa.types.is_boolean)
    if all(any(check(kind) for check in simple) for kind in (one, other)):
        return pa.string()
    raise CorpusError(
        f"The column '{name}' of {source.path} has the type {other}, in another file {one}. Give "
        "both the same type, or annotate the files into different folders."
    )


def fitted(record: dict[str, Any], kinds: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a record as columns can have them; what fits into none is in `OTHER_FIELDS`.

    kinds: Arrow types of the columns.
    """
    pa, rest = arrow(), dict(record)
    row: dict[str, Any] = {}
    for name, kind in kinds.items():
        if name != OTHER_FIELDS:
            row[name] = _fitting(pa, record.get(name), kind)
            if row[name] is not None or rest.get(name) is None:
                rest.pop(name, None)
    row[OTHER_FIELDS] = as_json(rest) if rest else None
    return row


def to_arrow(fields: Fields, schema: Any) -> list[Any]:
    """Arrays for the columns of a schema; nulls for columns that are not there.

    fields: rows that `fitted` made, or a `pyarrow.RecordBatch`.
    """
    pa = arrow()
    if isinstance(fields, list):
        return [pa.array([row.get(c.name) for row in fields], c.type) for c in schema]
    return [
        fields.column(column.name).cast(column.type)
        if column.name in fields.schema.names
        else pa.nulls(fields.num_rows, column.type)
        for column in schema
    ]


def _fitting(pa: Any, value: Any, kind: Any) -> Any:
    """A value as a column can have it, None if it cannot."""
    if value is None:
        return None
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        text = value if isinstance(value, str) else as_json(value)
        return text if is_valid(text) else None
    if isinstance(value, bool) != pa.types.is_boolean(kind):
        return None
    try:
        return pa.scalar(value, kind).as_py()
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return None
