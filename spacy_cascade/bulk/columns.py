"""Columns of Parquet output: one schema for all shards, whatever kinds of files are read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..errors import ConfigError, CorpusError
from .entities import arrow_type
from .extras import arrow
from .layout import Layout
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


def to_arrow(fields: Fields, schema: Any) -> list[Any]:
    """Arrays for the columns of a schema that fields have, with nulls for what is not there."""
    if isinstance(fields, list):
        return _of_records(fields, schema)
    pa = arrow()
    return [
        fields.column(column.name).cast(column.type)
        if column.name in fields.schema.names
        else pa.nulls(fields.num_rows, column.type)
        for column in schema
    ]


def _of_records(records: list[dict[str, Any]], schema: Any) -> list[Any]:
    pa = arrow()
    rest: list[dict[str, Any]] = [dict(record) for record in records]
    columns = {}
    for column in schema:
        if column.name == OTHER_FIELDS:
            continue
        values = [_fitting(pa, one.get(column.name), column.type) for one in records]
        for value, others in zip(values, rest, strict=True):
            if value is not None or others.get(column.name) is None:
                others.pop(column.name, None)
        columns[column.name] = pa.array(values, column.type)
    leftover = [json.dumps(one) if one else None for one in rest]
    return [columns.get(c.name, pa.array(leftover, pa.string())) for c in schema]


def _fitting(pa: Any, value: Any, kind: Any) -> Any:
    """A value as a column can have it, None if it cannot."""
    if value is None:
        return None
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        text = value if isinstance(value, str) else json.dumps(value)
        return text if text.isprintable() or _is_unicode(text) else None
    if isinstance(value, bool) != pa.types.is_boolean(kind):
        return None
    try:
        return pa.scalar(value, kind).as_py()
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
