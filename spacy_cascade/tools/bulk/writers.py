"""Files of results: their layout, a writer for each format, and the columns of Parquet."""

from __future__ import annotations

import gzip
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple

import srsly
from spacy.tokens import Doc, DocBin

from ...errors import ConfigError, CorpusError
from ...features.strings import is_valid
from .extras import arrow, parquet
from .results import Entity, arrow_type, as_dicts, as_json, entities_of
from .sources.base import Fields, Names, Source


@dataclass(frozen=True)
class Layout:
    """Format and columns of the output.

    format: a key of `writers.formats.FORMATS`. names: columns of texts, ids and results.
    keeps_text: whether the texts are written again. spans_key: the results are the spans of that
    group instead of `doc.ents`.
    """

    format: str = "jsonl"
    names: Names = field(default_factory=Names)
    keeps_text: bool = True
    spans_key: str | None = None

    def described(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


class Found(NamedTuple):
    """What was found in a text. row: what `Writer.row` made of it. entities, tokens: how many."""

    row: Any
    entities: int
    tokens: int


class Writer(ABC):
    """Writes the results of a shard to a file, a batch at a time.

    takes_arrow: whether fields may be a `pyarrow.RecordBatch`; otherwise they are dictionaries.
    """

    suffix: ClassVar[str]
    takes_arrow: ClassVar[bool] = False
    largest_shard: ClassVar[int] = 32_000_000
    """Bytes of input."""

    def __init__(self, path: Path, layout: Layout, schema: Any) -> None:
        """path: an empty file. schema: `columns.schema_of`, None for formats without."""
        self.path = path
        self.layout = layout
        self.schema = schema

    def of_doc(self, doc: Doc, text: str, fields: Fields, i: int) -> Found:
        """What is kept of the Doc of a record, which is the i-th of `fields`; text: its text."""
        entities = entities_of(doc, self.layout.spans_key)
        return Found(self.row(doc, text, entities, fields, i), len(entities), len(doc))

    @abstractmethod
    def row(self, doc: Doc, text: str, entities: list[Entity], fields: Fields, i: int) -> Any:
        """What is to be written of a record, which outlives the Doc.

        Whatever can be wrong with a single record is raised here, and leaves nothing behind.
        """

    @abstractmethod
    def write(self, found: list[Found], fields: Fields) -> None:
        """Write a batch: its rows, and the other columns of the same records."""

    @abstractmethod
    def close(self) -> None:
        """Write what is still to be written. Not called after an error."""

    @abstractmethod
    def abandon(self) -> None:
        """Let go of the file after an error, which is not to be followed by another one."""


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


RECORD = "record"
"""Key of `doc.user_data` with the id and the other columns of a record."""


class DocWriter(Writer):
    """A `DocBin`, which is in memory until the shard is complete."""

    suffix = ".spacy"
    largest_shard = 8_000_000

    def __init__(self, path: Path, layout: Layout, schema: Any) -> None:
        super().__init__(path, layout, schema)
        self._docs = DocBin(store_user_data=True)

    def row(self, doc: Doc, text: str, entities: list[Entity], fields: Fields, i: int) -> None:
        doc.user_data[RECORD] = json.loads(as_json(fields[i]))
        # By itself first, because what fails is added in part. MessagePack cannot have every value,
        # and cannot read again all that it writes.
        alone = DocBin(store_user_data=True, docs=[doc])
        srsly.msgpack_loads(alone.user_data[0], use_list=False)
        srsly.msgpack_dumps(doc.cats)
        self._docs.merge(alone)

    def write(self, found: list[Found], fields: Fields) -> None:
        """The Docs are kept already."""

    def close(self) -> None:
        self._docs.to_disk(self.path)

    def abandon(self) -> None:
        """No file is open."""


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


FORMATS: dict[str, type[Writer]] = {
    "jsonl": JsonWriter,
    "jsonl.gz": GzipJsonWriter,
    "spacy": DocWriter,
    "parquet": ParquetWriter,
}


def writer_of(name: str) -> type[Writer]:
    """Raises `ConfigError` for a format that there is not."""
    if name not in FORMATS:
        raise ConfigError(f"There is no format '{name}'. The formats are {', '.join(FORMATS)}.")
    return FORMATS[name]


# Columns of Parquet: one schema for all shards, whatever kinds of files are read.

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
