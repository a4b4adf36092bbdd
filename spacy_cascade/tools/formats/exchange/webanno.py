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
from ..texts import AnnotatedText, Mention, Pair, Record
from .base import FormatOptions, TextFormat
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
    column = _label_column(source)
    text, words, sentences = "", list[Pair](), list[int]()
    spans: dict[tuple[str, str], Pair] = {}  # by the name of the annotation, and its label
    at = start = 0
    for number, line in enumerate(source.lines, start=1):
        if line.startswith(_TEXT):
            joint = "\n" if text else ""
            is_more = number > 1 and source.lines[number - 2].startswith(_TEXT)
            at = len(text) + len(joint)
            text += joint + _plain(line.removeprefix(_TEXT))
            if not is_more:
                sentences.append(at)
        if not line[:1].isdigit():
            continue
        fields = line.split("\t")
        if len(fields) <= column:
            source.fail(
                number, f"expected {column + 1} columns, but found {len(fields)}", "Mend it"
            )
        word = _plain(fields[2])
        # A line such as `3-1.1` is a part of the word above it.
        is_part = "." in fields[0]
        start = text.find(word, start if is_part else at)
        if start < 0:
            source.fail(number, f"the word {word!r} is not in its #Text", "Mend the text")
        end = start + len(word)
        if not is_part:
            words.append((start, end))
            at = end
        for key in _values(fields[column], number):
            first, _ = spans.get(key, (start, end))
            spans[key] = first, end
    mentions = (Mention((pair,), label) for (_, label), pair in spans.items())
    found = tuple(sorted(mentions, key=lambda one: (one.start, -one.end)))
    yield AnnotatedText(text, found, source.path.stem, f"{source.path}:1", tuple(words),
                        sentences=tuple(sentences))  # fmt: skip


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
