"""What all kinds of files offer: ranges of records, and the records of a range."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, NoReturn, TypeAlias

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ....errors import CorpusError


class Failed(NamedTuple):
    """Why a text could not be read or annotated; stands in its place."""

    reason: str

    @classmethod
    def of(cls, error: Exception) -> Failed:
        return cls(f"{type(error).__name__}: {error}")


Fields: TypeAlias = Any
"""Further columns of records: a list of dictionaries, or a `pyarrow.RecordBatch`."""
Texts: TypeAlias = Sequence[Any] | Callable[[Vocab], Sequence[Doc | Failed]]
"""Texts, or what makes Docs inside the memory zone that they belong to."""
BATCH_CHARACTERS = 1_000_000
"""Of the texts in a memory zone: in a smaller one the tokenizer loses its cache too often."""
BATCH_RECORDS = 4096


class Range(NamedTuple):
    """Records of a file that belong together.

    first: number of the first record, from 0. length: how many. offset: where they begin, for files
    of lines in bytes of the uncompressed file. size: in bytes, about.
    """

    first: int
    length: int
    offset: int
    size: int


class Unreadable(NamedTuple):
    """Records that cannot be read or annotated. first, last: their numbers, from 1."""

    first: int
    last: int
    reason: str


class Rows(NamedTuple):
    """Records, and those among them that cannot be read.

    numbers: of each record in its file, from 1. texts: of each record, or a function that makes
    their Docs. fields: other columns.
    """

    numbers: list[int]
    texts: Texts
    fields: Fields
    unreadable: list[Unreadable]


@dataclass(frozen=True)
class Names:
    """Columns with a meaning: the text, what names a record if the file has names, the results."""

    text: str = "text"
    record: str = "id"
    results: str = "entities"


@dataclass(frozen=True)
class Source(ABC):
    """A file with records. name: short path, for ids and messages."""

    path: Path
    name: str
    names: Names

    suffixes: ClassVar[tuple[str, ...]]

    @abstractmethod
    def ranges(self, size: int) -> Iterator[Range]:
        """All records, in ranges of about so many bytes. Raises `CorpusError` for a bad file."""

    @abstractmethod
    def read(self, wanted: Range) -> Iterator[Rows]:
        """The records of a range, a batch at a time.

        What cannot be read is listed, and does not stop the others.
        """

    def columns(self) -> dict[str, Any]:
        """Arrow types of the columns besides the text, None where the types differ by record."""
        return {}

    @property
    def has_open_columns(self) -> bool:
        """Whether records may have columns that `columns` does not list."""
        return False

    def fail(self, problem: str, advice: str) -> NoReturn:
        """Raise the error of a place in the file."""
        raise CorpusError(f"Cannot read {self.path}: {problem}. {advice}.")


def state_of(path: Path) -> tuple[int, int]:
    """Size in bytes and time of the last change in nanoseconds: other ones if a file changes."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def values_of(column: Any) -> list[Any]:
    """Python's values of a column of Arrow, or of the rows of a batch; `Failed` if one has none."""
    try:
        values: list[Any] = column.to_pylist()
    except Exception:
        return [_single_value(column.slice(i, 1)) for i in range(len(column))]
    return values


def _single_value(column: Any) -> Any:
    try:
        return column.to_pylist()[0]
    except Exception as error:
        return Failed.of(error)
