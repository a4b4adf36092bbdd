"""What all writers of shards offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from spacy.tokens import Doc

from ..entities import Entity, entities_of
from ..layout import Layout
from ..sources.base import Fields


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
