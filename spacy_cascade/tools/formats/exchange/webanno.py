r"""WebAnno TSV 3, which WebAnno and INCEpTION export: a word a line, with the layers in columns.

https://inception-project.github.io/releases/34.0/docs/user-guide.html#sect_formats_webannotsv3. A
`#T_SP=` line names a layer of spans and its features, each of which is a column. `*` and `_` stand
for no value; `PER[1]` is a value of the annotation 1, which may go over several words; `|` is
between annotations of the same word. A backslash goes before marks that are text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from ..bad_records import each
from ..tags import UNTYPED_LABEL
from ..texts import AnnotatedText, Mention, Pair, Record, is_offset
from .base import FormatOptions, TextFormat
from .offsets import Ruler, Unit
from .source import Source

_MARK = "#FORMAT=WebAnno TSV 3"
_TEXT, _SPANS, _OTHER = "#Text=", "#T_SP=", ("#T_CH=", "#T_RL=")
_ENTITIES = ("NamedEntity", "custom.Span")
"""Layers that hold entities, where a file has several."""
_SLOT = "ROLE_"
"""Begins features that link to another annotation, which have two columns."""
_LABELS = ("value", "label")
"""Features that hold the type of an entity."""
_STACKED = re.compile(r"(?<!\\)\|")
_NUMBERED = re.compile(r"^(.*?)(?:(?<!\\)\[(\d+)\])?$", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)")
_SPECIAL = {"t": "\t", "n": "\n", "r": "\r"}
_FIRST = 3
"""Columns before those of the layers: the number, the offsets, the word."""


class _Layer(NamedTuple):
    """A layer of spans: its name, its features, and the column of the first of them."""

    name: str
    features: list[str]
    column: int

    @property
    def label_column(self) -> int:
        """The column of the type, else the first one."""
        found = (self.features.index(name) for name in _LABELS if name in self.features)
        return self.column + next(found, 0)


class WebAnno(TextFormat):
    """A file is one document; the layer of named entities is read, else the first one of spans."""

    name: ClassVar[str] = "webanno"
    suffixes: ClassVar[tuple[str, ...]] = (".tsv",)

    def recognises(self, source: Source) -> bool:
        return source.start.lstrip().startswith(_MARK)

    def read(self, source: Source, options: FormatOptions) -> Iterator[Record]:
        return each([source], _document, options.on_bad)


def _document(source: Source) -> Iterator[AnnotatedText]:
    column, text = _label_column(source), _Text()
    spans: dict[tuple[str, str], Pair] = {}  # by the name of the annotation, and its label
    before = ""
    for number, line in enumerate(source.lines, start=1):
        if line.startswith(_TEXT):
            text.add(_plain(line.removeprefix(_TEXT)), is_more=before.startswith(_TEXT))
        before = line
        if not line[:1].isdigit():
            continue
        fields = line.split("\t")
        if len(fields) <= column:
            problem = f"expected {column + 1} columns, but found {len(fields)}"
            source.fail(number, problem, "Mend the line")
        place = text.place(*fields[:_FIRST])
        if place is None:
            source.fail(number, f"the word {fields[2]!r} is not in its #Text", "Mend the text")
        for key in _values(fields[column], number):
            spans[key] = spans.get(key, place)[0], place[1]
    mentions = [Mention((pair,), label) for (_, label), pair in spans.items()]
    mentions.sort(key=lambda one: (one.start, -one.end))
    yield AnnotatedText(
        text.whole, tuple(mentions), source.path.stem, f"{source.path}:1", tuple(text.words),
        sentences=tuple(text.sentences),
    )  # fmt: skip


class _Text:
    """The sentences so far, a line each or several; words are looked up in the last one in turn."""

    def __init__(self) -> None:
        self.words: list[Pair] = []
        self.sentences: list[int] = []
        self._texts: list[str] = []
        self._at = self._offset = 0

    @property
    def whole(self) -> str:
        """The text of the document."""
        return "\n".join(self._texts)

    def add(self, text: str, *, is_more: bool) -> None:
        """Add a sentence, or another line of the same one."""
        if is_more:
            self._texts[-1] += f"\n{text}"
            return
        end = self.sentences[-1] + len(self._texts[-1]) + 1 if self._texts else 0
        self._texts.append(text)
        self.sentences.append(end)
        self._at = 0

    def place(self, number: str, offsets: str, shown: str) -> Pair | None:
        """The characters of a word, or of a part of the word before it; None if there is none.

        Offsets count UTF-16 code units, from the start of the document.
        """
        word, offset = _plain(shown), offsets.partition("-")[0]
        if not is_offset(offset) or not self._texts:
            return None
        text, first = self._texts[-1], self.sentences[-1]
        if "." in number and self.words:
            whole = self.words[-1][0] - first
            ruler = Ruler(text[whole : self._at], Unit.UTF16)
            start = whole + ruler.character(int(offset) - self._offset)
            is_there = start >= 0 and text.startswith(word, start)
            return (first + start, first + start + len(word)) if is_there else None
        start = text.find(word, self._at)
        if start < 0:
            return None
        self._at, self._offset = start + len(word), int(offset)
        self.words.append((first + start, first + self._at))
        return self.words[-1]


def _label_column(source: Source) -> int:
    """Raises `CorpusError` for a file without a layer of spans."""
    layers, column = list[_Layer](), _FIRST
    for line in source.lines:
        if line.startswith(_SPANS):
            name, *features = line.removeprefix(_SPANS).split("|")
            layers.append(_Layer(name, features, column))
            column += max(1, len(features)) + sum(one.startswith(_SLOT) for one in features)
        elif line.startswith(_OTHER):
            column += line.count("|")
    if not layers:
        source.fail(1, "there is no layer of spans", "Export the layer of entities, too")
    entities = (one for one in layers if one.name.endswith(_ENTITIES))
    return next(entities, layers[0]).label_column


def _values(cell: str, line: int) -> Iterator[tuple[str, str]]:
    """What names each annotation of a cell, and its label: ENT if it has none.

    line: names those without a number, which have one word.
    """
    for part in _STACKED.split(cell):
        value, number = _NUMBERED.match(part).groups()  # type: ignore[union-attr]
        if part != "_":
            yield number or f"line {line}", UNTYPED_LABEL if value == "*" else _plain(value)


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda found: _SPECIAL.get(found[1], found[1]), text)
