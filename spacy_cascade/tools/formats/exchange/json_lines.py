"""Prodigy and Doccano: JSON Lines with a text and its spans.

Prodigy has `text`, `spans`, `tokens` and the `answer` of the annotator:
https://prodi.gy/docs/api-interfaces#spans. Doccano has `text`, and spans as `[start, end, label]`
or as objects: https://doccano.github.io/doccano/tutorial/ (sequence labelling, with relations,
slots with intents, or neither).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

from ..bad_records import OnBad, each_counted, raised
from ..texts import (
    AnnotatedText,
    LeftOut,
    Mention,
    Record,
    checked_mention,
    checked_pair,
    checked_text,
)  # fmt: skip
from .base import FormatOptions, name_of, scored, scores_of
from .source import Row, Source
from .span_rows import SPANS, TEXTS, TranslatedRows, WritableSpanRows, is_span

_BINARY_VIEW = "ner"
"""Of `ner.teach`: one span is accepted or rejected, and nothing is said about other words."""
_CATEGORIES = {"label", "accept", "options"}
"""What tasks for categories of whole texts have in place of spans."""
_KNOWN = {"spans", "tokens"}
_TOKEN = {"start", "end", "id"}


class Prodigy(WritableSpanRows):
    """Tasks with spans as objects, tokens and an answer."""

    name: ClassVar[str] = "prodigy"

    def recognises(self, source: Source) -> bool:
        first = source.first
        marks = {"spans", "answer", "_input_hash", "_task_hash"} & first.keys()
        tokens = first.get("tokens")
        has_tokens = isinstance(tokens, list) and all(
            isinstance(token, dict) and token.keys() >= _TOKEN for token in tokens
        )
        return bool(marks or has_tokens or first.keys() <= {"text", "meta"}) and "text" in first

    def records(self, row: Row, on_bad: OnBad) -> Iterator[Record]:
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

    def row_of(self, text: AnnotatedText) -> dict[str, Any]:
        starts = {start: i for i, (start, _) in enumerate(text.words)}
        ends = {end: i for i, (_, end) in enumerate(text.words)}

        def span(mention: Mention) -> dict[str, Any]:
            start, end = mention.start, mention.end
            made: dict[str, Any] = {"start": start, "end": end, "label": mention.label}
            if start in starts and end in ends:
                made |= {"token_start": starts[start], "token_end": ends[end]}
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


class PlainTexts(TranslatedRows):
    """Objects with a text and no lists, which nobody has annotated."""

    name: ClassVar[str] = "texts"

    def recognises(self, source: Source) -> bool:
        return False

    def translated(self, row: Row, options: FormatOptions) -> dict[str, Any]:
        return {"text": row.value.get(options.field), "entities": None}


def annotated_text(row: Row, on_bad: OnBad = raised) -> AnnotatedText:
    """The text of a task, whatever its answer. Raises `CorpusError` for what is no such task."""
    value = row.value
    text = checked_text(value.get("text"), row.fail)
    pairs = [_offsets(text, token, row) for token in row.list_of("tokens")]
    mentions, n_bad = each_counted(row.list_of("spans"), partial(_task_mentions, text, row), on_bad)
    return AnnotatedText(
        text, mentions, str(value.get("_input_hash", "")), row.where, tuple(pairs),
        is_annotated=value.get("spans") is not None or "answer" in value,
        is_partial=value.get("_view_id") == _BINARY_VIEW, bad_spans=n_bad,
        annotator=str(value.get("_annotator_id") or value.get("_session_id") or ""),
    )  # fmt: skip


def _task_mentions(text: str, row: Row, span: Any) -> Iterator[Mention]:
    start, end = _offsets(text, span, row)
    yield checked_mention(text, start, end, span.get("label"), row.fail)


def _offsets(text: str, span: Any, row: Row) -> tuple[int, int]:
    if not isinstance(span, dict):
        row.fail("a span or token is no JSON object", "Correct it")
    return checked_pair(text, span.get("start"), span.get("end"), row.fail)


class Doccano(WritableSpanRows):
    """Texts with spans as lists or objects, under one of several names."""

    name: ClassVar[str] = "doccano"

    def recognises(self, source: Source) -> bool:
        first = source.first
        found = [first[key] for key in SPANS if isinstance(first.get(key), list)]
        has_text = any(isinstance(first.get(key), str) for key in TEXTS)
        return has_text and any(all(map(is_span, spans)) for spans in found)

    def row_of(self, text: AnnotatedText) -> dict[str, Any]:
        """Doccano keeps fields that it does not know as metadata, so scores go there."""
        spans = [[mention.start, mention.end, mention.label] for mention in text.mentions]
        return {**name_of(text), "text": text.text, "label": spans, **scores_of(text)}
