"""Prodigy and Doccano: JSON Lines with a text and its spans.

Prodigy has `text`, `spans`, `tokens` and the `answer` of the annotator:
https://prodi.gy/docs/api-interfaces#spans. Doccano has `text`, and spans as `[start, end, label]`
or as objects: https://doccano.github.io/doccano/tutorial/ (sequence labelling, with relations,
slots with intents, or neither).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from ..bad_records import OnBad, each, each_counted, raised
from ..texts import (
    AnnotatedText,
    LeftOut,
    Mention,
    Record,
    checked_mention,
    checked_pair,
    checked_text,
)  # fmt: skip
from .base import FormatOptions, TextFormat, scored, write_rows
from .offsets import rows_in_characters
from .source import Row, Source

_BINARY_VIEW = "ner"
"""Of `ner.teach`: one span is accepted or rejected, and nothing is said about other words."""
_CATEGORIES = {"label", "accept", "options"}
"""What tasks for categories of whole texts have in place of spans."""
_KNOWN = {"spans", "tokens"}
_TOKEN = {"start", "end", "id"}
_SPANS = ("label", "labels", "entities", "annotations")
_FIELDS = (("start_offset", "start"), ("end_offset", "end"), ("label", "type", "tag"))
"""Names that objects have for the start, the end and the label of a span."""
_TEXTS = ("text", "data")


class Prodigy(TextFormat):
    name: ClassVar[str] = "prodigy"
    suffixes: ClassVar[tuple[str, ...]] = (".jsonl",)

    def recognises(self, source: Source) -> bool:
        first = source.first
        marks = {"spans", "answer", "_input_hash", "_task_hash"} & first.keys()
        tokens = first.get("tokens")
        has_tokens = isinstance(tokens, list) and all(
            isinstance(token, dict) and token.keys() >= _TOKEN for token in tokens
        )
        return bool(marks or has_tokens or first.keys() <= {"text", "meta"}) and "text" in first

    def read(self, source: Source, options: FormatOptions) -> Iterator[Record]:
        on_bad = options.on_bad
        read = partial(each, read=partial(_records_of_task, on_bad=on_bad), on_bad=on_bad)
        return rows_in_characters(source.rows(on_bad), read)

    def write(self, texts: Sequence[AnnotatedText], path: Path) -> None:
        write_rows(path, map(_task, texts))


def _records_of_task(row: Row, on_bad: OnBad) -> Iterator[Record]:
    answer = row.value.get("answer", "accept")
    row.refuse_other_spans(_KNOWN)
    if answer in ("reject", "ignore"):
        yield LeftOut(f"texts answered {answer}")
    elif answer != "accept":
        row.fail(f"the answer is {answer!r}", "It is accept, reject or ignore")
    elif _CATEGORIES & row.value.keys() and row.value.get("spans") is None:
        yield LeftOut("texts with categories, not spans")
    else:
        yield annotated_text(row, on_bad)


def annotated_text(row: Row, on_bad: OnBad = raised) -> AnnotatedText:
    """The text of a task, whatever its answer. Raises `CorpusError` for what is no such task."""
    value = row.value
    text = checked_text(value.get("text"), row.fail)
    pairs = [_offsets(text, token, row) for token in row.list_of("tokens")]
    mentions, n_bad = each_counted(
        row.list_of("spans"), partial(_mentions_of_task, text, row), on_bad
    )
    return AnnotatedText(
        text, mentions, str(value.get("_input_hash", "")), row.where, tuple(pairs),
        is_annotated=value.get("spans") is not None or "answer" in value,
        is_partial=value.get("_view_id") == _BINARY_VIEW, bad_spans=n_bad,
    )  # fmt: skip


def _mentions_of_task(text: str, row: Row, span: Any) -> Iterator[Mention]:
    start, end = _offsets(text, span, row)
    yield checked_mention(text, start, end, span.get("label"), row.fail)


def _offsets(text: str, span: Any, row: Row) -> tuple[int, int]:
    if not isinstance(span, dict):
        row.fail("a span or token is no JSON object", "Correct it")
    return checked_pair(text, span.get("start"), span.get("end"), row.fail)


def _task(text: AnnotatedText) -> dict[str, Any]:
    starts = {start: i for i, (start, _) in enumerate(text.words)}
    ends = {end: i for i, (_, end) in enumerate(text.words)}

    def span(mention: Mention) -> dict[str, Any]:
        made: dict[str, Any] = {"start": mention.start, "end": mention.end, "label": mention.label}
        if mention.start in starts and mention.end in ends:
            made |= {"token_start": starts[mention.start], "token_end": ends[mention.end]}
        return made | scored(mention)

    tokens = [
        {
            "text": text.text[start:end], "start": start, "end": end, "id": i,
            "ws": text.text[end : end + 1] == " ",
        }
        for i, (start, end) in enumerate(text.words)
    ]  # fmt: skip
    task: dict[str, Any] = {"text": text.text}
    if tokens:
        task["tokens"] = tokens
    task["spans"] = [span(mention) for mention in text.mentions]
    return task | ({"meta": {"id": text.name}} if text.name else {})


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
