"""Doccano: JSON Lines with `text` and labels as `[start, end, label]`, or `entities` as objects.

Format: https://doccano.github.io/doccano/tutorial/ (sequence labelling, with relations or not)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from ..bad_records import OnBad, each, each_counted
from ..texts import AnnotatedText, Mention, Record, checked_mention, checked_text
from .base import FormatOptions, TextFormat
from .json_files import write_rows
from .source import Row, Source

_TRIPLES = ("label", "labels")
_OBJECTS = ("entities", "annotations")
_TEXTS = ("text", "data")


class Doccano(TextFormat):
    name: ClassVar[str] = "doccano"
    suffixes: ClassVar[tuple[str, ...]] = (".jsonl",)

    def recognises(self, source: Source) -> bool:
        first = source.first
        triples = [first[key] for key in _TRIPLES if isinstance(first.get(key), list)]
        objects = [first[key] for key in _OBJECTS if isinstance(first.get(key), list)]
        has_objects = any(_is_entity(entity) for found in objects for entity in found)
        has_triples = any(all(isinstance(item, list) for item in found) for found in triples)
        is_empty = "relations" in first and [] in objects
        has_text = any(isinstance(first.get(key), str) for key in _TEXTS)
        return has_text and (has_triples or has_objects or is_empty)

    def read(self, source: Source, options: FormatOptions) -> Iterator[Record]:
        on_bad = options.on_bad
        return each(source.rows(on_bad), partial(_texts, on_bad=on_bad), on_bad)

    def write(self, texts: Sequence[AnnotatedText], path: Path) -> None:
        write_rows(path, map(_record, texts))


def _is_entity(value: Any) -> bool:
    return isinstance(value, dict) and "start_offset" in value


def _texts(row: Row, on_bad: OnBad) -> Iterator[AnnotatedText]:
    found = next((row.value[key] for key in _TEXTS if key in row.value), None)
    text = checked_text(found, row.fail)
    spans = [(key, span) for key in (*_TRIPLES, *_OBJECTS) for span in row.list_of(key)]
    name = str(row.value.get("id", ""))
    mentions, n_bad = each_counted(spans, partial(_mentions, text, row), on_bad)
    known = bool({*_TRIPLES, *_OBJECTS} & row.value.keys())
    yield AnnotatedText(text, mentions, name, row.where, is_annotated=known, bad_spans=n_bad)


def _mentions(text: str, row: Row, keyed: tuple[str, Any]) -> Iterator[Mention]:
    key, span = keyed
    if key in _OBJECTS and isinstance(span, dict):
        span = [span.get("start_offset"), span.get("end_offset"), span.get("label")]
    if not isinstance(span, list) or len(span) != 3:
        row.fail(f"{key!r} has {span!r}, not [start, end, label]", "Correct it")
    start, end, label = span
    yield checked_mention(text, start, end, label, row.fail)


def _record(text: AnnotatedText) -> dict[str, Any]:
    """Doccano keeps fields that it does not know as metadata, so scores go there."""
    record: dict[str, Any] = {"id": text.name} if text.name else {}
    spans = [[mention.start, mention.end, mention.label] for mention in text.mentions]
    record |= {"text": text.text, "label": spans}
    scores = [mention.score for mention in text.mentions]
    return record | ({"scores": scores} if any(score is not None for score in scores) else {})
