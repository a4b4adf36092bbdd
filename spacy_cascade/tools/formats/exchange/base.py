"""What a format is: it recognises its files, reads and may write them; what many formats share."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from .... import extras
from ....errors import ConfigError
from ....files import replace_file
from ..bad_records import OnBad, raised
from ..columns import Document, ReadOptions
from ..texts import AnnotatedText, Mention, Record
from .source import Source


@dataclass(frozen=True)
class FormatOptions:
    """How to read a file; each format takes what concerns it.

    columns: of column files, and the number of sentences of a document. tag_names: of tags that
    are numbers, from 0. field: of JSON, with the text. predictions: whether texts that only a model
    has annotated count as annotated. on_bad: takes the error of each record, or span of one, that
    cannot be read; by default it is raised. all_annotators: whether the annotations of one text by
    several people are each a text of its own; else one of them counts.
    """

    columns: ReadOptions = field(default_factory=ReadOptions)
    tag_names: tuple[str, ...] = ()
    field: str = "text"
    predictions: bool = False
    on_bad: OnBad = raised
    all_annotators: bool = False


class Format(ABC):
    """A file format.

    name: what `--format` and `--to` call it. suffixes: of its files in a folder. is_folder: whether
    a corpus is a folder of files that belong together. keeps_parts: whether it can hold spans of
    several parts.
    """

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]] = ()
    is_folder: ClassVar[bool] = False
    keeps_parts: ClassVar[bool] = False

    @abstractmethod
    def recognises(self, source: Source) -> bool:
        """Whether a file is one of this format, by its content; never raises for a bad file."""

    def written_label(self, label: str) -> str:
        """The label that `write` writes, where the format cannot have each one."""
        return label

    def write(self, texts: Sequence[AnnotatedText], path: Path) -> None:
        """Write texts with their spans and scores; as a whole or not at all."""
        raise ConfigError(f"The format {self.name} can only be read. Choose another one.")


class TextFormat(Format):
    """A format that has the text of its documents, and spans as characters of it."""

    @abstractmethod
    def read(self, source: Source, options: FormatOptions) -> Iterator[Record]:
        """The texts in order. `bad_records.each` hands the errors of records to `options.on_bad`.

        Raises `CorpusError` for other bad input; all errors name file and line.
        """


class WordFormat(Format):
    """A format that has words and tags but no text: the spaces between words are restored."""

    @abstractmethod
    def read(self, source: Source, options: FormatOptions) -> list[Document]:
        """The documents in order. Raises `CorpusError` for bad input, naming file and line."""


AnyFormat: TypeAlias = TextFormat | WordFormat


def library(module: str, name: str) -> Any:
    """A module of the extra `formats`. Raises `ConfigError` where it is not installed."""
    return extras.library(module, "formats", f"The format {name}")


def scored(mention: Mention) -> dict[str, float]:
    """The score under its name; empty without one."""
    return {} if mention.score is None else {"score": mention.score}


def name_of(text: AnnotatedText) -> dict[str, str]:
    """The name of a document as the `id` of its object; empty without one."""
    return {"id": text.name} if text.name else {}


def scores_of(text: AnnotatedText) -> dict[str, list[float | None]]:
    """The scores of the spans in a list of their own; empty where none has one."""
    scores = [mention.score for mention in text.mentions]
    return {"scores": scores} if any(score is not None for score in scores) else {}


def one_line(text: str) -> str:
    """The text with blanks for line ends and tabs, which keeps the offsets."""
    return re.sub(r"[\n\r\t]", " ", text)


def write_value(path: Path, value: object) -> None:
    """Write one JSON value."""
    replace_file(path, (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode())
