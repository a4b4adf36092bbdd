"""Doccano: JSON Lines with `text`, and spans as `[start, end, label]` or as objects.

Format: https://doccano.github.io/doccano/tutorial/ (sequence labelling, with relations, slots with
intents, or neither)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from ..bad_records import OnBad, each, each_counted
from ..texts import AnnotatedText, Mention, Record, checked_mention, checked_text
from .base import FormatOptions, TextFormat
from .counting import rows_in_characters
from .json_files import write_rows
from .source import Row, Source

_SPANS = ("label", "labels", "entities", "annotations")
_FIELDS = (("start_offset", "start"), ("end_offset", "end"), ("label", "type", "tag"))
"""Names that objects have for the start, the end and the label of a span."""
_TEXTS = ("text", "data")


class Doccano(TextFormat):
    name: ClassVar[str] = "doccano"
    suffixes: ClassVar[tuple[str, ...]] = (".jsonl",)

    def recognises(self, source: Source) -> bool:
        first = source.first
        found = [first[key] for key in _SPANS if isinstance(first.get(key), list)]
        has_text = any(isinstance(first.get(key), str) for key in _TEXTS)
        return has_text and any(all(map(_is_span, spans)) for spans in found)

    def read(self, source: Source, options: FormatOptions) -> Iterator[Record]:
        on_bad = options.on_bad
        read = partial(each, read=partial(_texts, on_bad=on_bad), on_bad=on_bad)
        return rows_in_characters(source.rows(on_bad), read)

    def write(self, texts: Sequence[AnnotatedText], path: Path) -> None:
        write_rows(path, map(_record, texts))


def _is_span(value: Any) -> bool:
    """Whether a value is a list, or an object with offsets and a label."""
    return isinstance(value, list) or (
        isinstance(value, dict) and all(any(name in value for name in names) for names in _FIELDS)
    )


def _texts(row: Row, on_bad: OnBad) -> Iterator[AnnotatedText]:
    row.refuse_other_spans(_SPANS)
    found = next((row.value[key] for key in _TEXTS if key in row.value), None)
    text = checked_text(found, row.fail)
    spans = [(key, span) for key in _SPANS for span in row.list_of(key)]
    name = str(row.value.get("id", ""))
    mentions, n_bad = each_counted(spans, partial(_mentions, text, row), on_bad)
    known = any(row.value.get(key) is not None for key in _SPANS)
    yield AnnotatedText(text, mentions, name, row.where, is_annotated=known, bad_spans=n_bad)


def _mentions(text: str, row: Row, keyed: tuple[str, Any]) -> Iterator[Mention]:
    (key, span), found = keyed, ""
    if isinstance(span, dict):
        found = span["text"] if isinstance(span.get("text"), str) else ""
        span = [next((span[n] for n in names if n in span), None) for names in _FIELDS]
    if not isinstance(span, list) or len(span) != 3:
        row.fail(f"{key!r} has {span!r}, not [start, end, label]", "Correct it")
    start, end, label = span
    yield checked_mention(text, start, end, label, row.fail, found)


def _record(text: AnnotatedText) -> dict[str, Any]:
    """Doccano keeps fields that it does not know as metadata, so scores go there."""
    record: dict[str, Any] = {"id": text.name} if text.name else {}
    spans = [[mention.start, mention.end, mention.label] for mention in text.mentions]
    record |= {"text": text.text, "label": spans}
    scores = [mention.score for mention in text.mentions]
    return record | ({"scores": scores} if any(score is not None for score in scores) else {})
