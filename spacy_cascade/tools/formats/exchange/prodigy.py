"""Prodigy: JSON Lines with `text`, `spans`, `tokens` and the `answer` of the annotator.

Format: https://prodi.gy/docs/api-interfaces#spans
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
)
from .base import FormatOptions, TextFormat
from .counting import rows_in_characters
from .json_files import scored, write_rows
from .source import Row, Source

_BINARY_VIEW = "ner"
"""Of `ner.teach`: one span is accepted or rejected, and nothing is said about other words."""
_CATEGORIES = {"label", "accept", "options"}
"""What tasks for categories of whole texts have in place of spans."""
_KNOWN = {"spans", "tokens"}
_TOKEN = {"start", "end", "id"}


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
        read = partial(each, read=partial(_records, on_bad=on_bad), on_bad=on_bad)
        return rows_in_characters(source.rows(on_bad), read)

    def write(self, texts: Sequence[AnnotatedText], path: Path) -> None:
        write_rows(path, map(_task, texts))


def _records(row: Row, on_bad: OnBad) -> Iterator[Record]:
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
    mentions, n_bad = each_counted(row.list_of("spans"), partial(_mentions, text, row), on_bad)
    return AnnotatedText(
        text, mentions, str(value.get("_input_hash", "")), row.where, tuple(pairs),
        is_annotated=value.get("spans") is not None or "answer" in value,
        is_partial=value.get("_view_id") == _BINARY_VIEW, bad_spans=n_bad,
    )  # fmt: skip


def _mentions(text: str, row: Row, span: Any) -> Iterator[Mention]:
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
