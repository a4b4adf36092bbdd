"""JSON objects with a text and its spans: what the formats that have them share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from ....cli.output import write_json_lines
from ..bad_records import OnBad, each, each_counted
from ..texts import AnnotatedText, Mention, Record, checked_mention, checked_text
from .base import FormatOptions, TextFormat
from .offsets import in_characters
from .source import Row, Source

SPANS = ("label", "labels", "entities", "annotations")
"""Names that objects have for the list of spans."""
FIELDS = (
    ("start_offset", "start"),
    ("end_offset", "end"),
    ("label", "labels", "type", "tag", "entity", "entity_group", "entityLabel"),
)
"""Names that objects have for the start, the end and the label of a span."""
TEXTS = ("text", "data")


class SpanRows(TextFormat):
    """JSON with a text and its spans; the formats differ in what their objects have."""

    suffixes: ClassVar[tuple[str, ...]] = (".jsonl",)

    def rows(self, source: Source, options: FormatOptions) -> Iterator[Row]:
        """The objects of a file."""
        return source.rows(options.on_bad)

    def records(self, row: Row, on_bad: OnBad) -> Iterator[Record]:
        """What an object says; `on_bad` takes the errors of its spans."""
        return text_of_row(row, on_bad)

    def read(self, source: Source, options: FormatOptions) -> Iterator[Record]:
        on_bad = options.on_bad
        rows, reading = in_characters(self.rows(source, options))
        for one in each(rows, partial(self.records, on_bad=on_bad), on_bad):
            yield replace(one, reading=reading) if isinstance(one, AnnotatedText) else one


class TranslatedRows(SpanRows):
    """JSON of other tools, each object of which becomes one with a text and its spans."""

    suffixes: ClassVar[tuple[str, ...]] = (".json", ".jsonl")

    @abstractmethod
    def translated(self, row: Row, options: FormatOptions) -> dict[str, Any]:
        """The object with `text` and `entities`, which are None if nobody has annotated it."""

    def rows(self, source: Source, options: FormatOptions) -> Iterator[Row]:
        def translated(row: Row) -> Iterator[Row]:
            name = {"id": row.value["id"]} if row.value.get("id") is not None else {}
            yield Row({**name, **self.translated(row, options)}, row.line, row.path)

        return each(source.rows(options.on_bad), translated, options.on_bad)


class WritableSpanRows(SpanRows):
    """Those that can be written, as JSON Lines."""

    @abstractmethod
    def row_of(self, text: AnnotatedText) -> dict[str, Any]:
        """The object of a text."""

    def write(self, texts: Sequence[AnnotatedText], path: Path) -> None:
        write_json_lines(path, map(self.row_of, texts))


def text_of_row(row: Row, on_bad: OnBad) -> Iterator[AnnotatedText]:
    """The text of an object, with spans that are lists or objects, under one of several names."""
    row.refuse_other_spans(SPANS)
    found = next((row.value[key] for key in TEXTS if key in row.value), None)
    text = checked_text(found, row.fail)
    spans = [(key, span) for key in SPANS for span in row.list_of(key)]
    mentions, n_bad = each_counted(spans, partial(_mentions, text, row), on_bad)
    known = any(row.value.get(key) is not None for key in SPANS)
    name = str(row.value.get("id", ""))
    yield AnnotatedText(text, mentions, name, row.where, is_annotated=known, bad_spans=n_bad)


def is_span(value: Any) -> bool:
    """Whether a value is a list, or an object with offsets and one label."""
    return isinstance(value, list) or (
        isinstance(value, dict)
        and "labels" not in value
        and all(any(name in value for name in names) for names in FIELDS)
    )


def _mentions(text: str, row: Row, keyed: tuple[str, Any]) -> Iterator[Mention]:
    (key, span), found = keyed, ""
    if isinstance(span, dict):
        found = span["text"] if isinstance(span.get("text"), str) else ""
        span = [next((span[n] for n in names if n in span), None) for names in FIELDS]
    if not isinstance(span, list | tuple) or len(span) != 3:
        row.fail(f"{key!r} has {span!r}, not [start, end, label]", "Correct it")
    start, end, label = span
    for one in label if isinstance(label, list) else [label]:
        yield checked_mention(text, start, end, one, row.fail, found)
