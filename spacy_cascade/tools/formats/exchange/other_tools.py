"""What other tools write, and people keep, as JSON: each becomes objects with a text and its spans.

spaCy 2 trains on pairs of a text and `{"entities": [[start, end, label], ...]}`; NER Annotator has
them in `{"classes": [...], "annotations": [...]}`. Dataturks has `annotation` with points whose
ends are inclusive; UBIAI has `document` and the entities among `tokens`. Argilla 1 has `annotation`
and `prediction`; Argilla 2 has responses and suggestions of its questions:
https://docs.argilla.io/latest/how_to_guides/import_export. GLiNER has words, and spans of words
with inclusive ends: https://urchade.github.io/GLiNER/training.html.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from ..bad_records import OnBad, each
from ..columns import Document, Sentence
from ..tags import LabelledSpan
from ..texts import LeftOut, Record, checked_label
from .base import FormatOptions, WordFormat
from .columns import usable_words
from .source import Row, Source
from .span_rows import SpanRows, TranslatedRows, text_of_row

_CLASSIC, _TEXTS, _RESPONSES, _SUGGESTIONS = "annotation", "fields", "responses", "suggestions"
_OF_RESPONSES, _OF_SUGGESTIONS = (".responses",), (".suggestion", "-suggestion")
"""Ends of the names of columns in Argilla's datasets; before them stands the question."""


class TrainingPairs(SpanRows):
    """spaCy 2's training data: pairs of a text and its entities; NER Annotator has a list."""

    name: ClassVar[str] = "spacy-v2"
    suffixes: ClassVar[tuple[str, ...]] = (".json", ".jsonl")

    def recognises(self, source: Source) -> bool:
        return _is_pair(source.first_value) or any(map(_is_pair, _pairs_of(source.first)))

    def rows(self, source: Source, options: FormatOptions) -> Iterator[Row]:
        for value, line in source.values(options.on_bad):
            for pair in _pairs_of(value) if isinstance(value, dict) else [value]:
                if _is_pair(pair):
                    text, spans = pair
                    spans = spans.get("entities") if isinstance(spans, dict) else spans
                    yield Row({"text": text, "entities": spans}, line, source.path)
                elif pair is not None:
                    advice = 'Give [text, {"entities": [[start, end, label]]}] for each text'
                    options.on_bad(source.error(line, "a pair was expected", advice))


def _pairs_of(value: dict[str, Any]) -> list[Any]:
    found = value.get("annotations")
    return found if isinstance(found, list) and "text" not in value else []


def _is_pair(value: Any) -> bool:
    is_pair = isinstance(value, list) and len(value) == 2 and isinstance(value[0], str)
    return is_pair and isinstance(value[1], dict | list)


class Dataturks(TranslatedRows):
    """Objects with `content`, and `annotation` as points with a list of labels."""

    name: ClassVar[str] = "dataturks"

    def recognises(self, source: Source) -> bool:
        return {"content", "annotation"} <= source.first.keys()

    def translated(self, row: Row, options: FormatOptions) -> dict[str, Any]:
        spans = [
            {**point, "end": _inclusive(point.get("end")), "label": one.get("label")}
            for one in row.list_of("annotation")
            if isinstance(one, dict)
            for point in Row(one, row.line, row.path).list_of("points")
            if isinstance(point, dict)
        ]
        is_known = row.value.get("annotation") is not None
        return {"text": row.value.get("content"), "entities": spans if is_known else None}


def _inclusive(end: Any) -> Any:
    """The end (exclusive) of what goes up to a character."""
    return end + 1 if type(end) is int else end


class Ubiai(TranslatedRows):
    """Objects with `document`, and an object in `tokens` for each entity."""

    name: ClassVar[str] = "ubiai"

    def recognises(self, source: Source) -> bool:
        first = source.first
        return isinstance(first.get("document"), str) and isinstance(first.get("tokens"), list)

    def translated(self, row: Row, options: FormatOptions) -> dict[str, Any]:
        return {"text": row.value.get("document"), "entities": row.value.get("tokens")}


class Argilla(TranslatedRows):
    """Records with the spans of responses, or with `--predictions` of suggestions.

    A record has the last response that was submitted. Those that were discarded are left out.
    """

    name: ClassVar[str] = "argilla"

    def recognises(self, source: Source) -> bool:
        first = source.first
        ends = (*_OF_RESPONSES, *_OF_SUGGESTIONS)
        is_classic = {"text", _CLASSIC, "status"} <= first.keys()
        return is_classic or _TEXTS in first or any(name.endswith(ends) for name in first)

    def translated(self, row: Row, options: FormatOptions) -> dict[str, Any]:
        spans = _annotated(row.value)
        if spans is None and options.predictions:
            spans = _suggested(row.value)
        status = str(row.value.get("status")).lower()
        return {"text": _text(row.value, options.field), "entities": spans, "status": status}

    def records(self, row: Row, on_bad: OnBad) -> Iterator[Record]:
        if row.value["status"] == "discarded":
            yield LeftOut("texts that were discarded")
        else:
            yield from text_of_row(row, on_bad)


def _text(value: dict[str, Any], field: str) -> Any:
    """The field with this name, or else the first one with a text."""
    fields = value[_TEXTS] if isinstance(value.get(_TEXTS), dict) else value
    texts = {name: text for name, text in fields.items() if isinstance(text, str)}
    for name in ("id", "status", "_server_id"):
        texts.pop(name, None)
    return texts.get(field, next(iter(texts.values()), None))


def _annotated(value: dict[str, Any]) -> list[Any] | None:
    """The spans of the last response; None if there is none."""
    if _CLASSIC in value:
        return _triples(value[_CLASSIC])
    given = value.get(_RESPONSES)
    questions = (
        list(given.values()) if isinstance(given, dict) else _at(value, _OF_RESPONSES)
    ) or [
        one for one in value.values() if isinstance(one, list) and any(map(_is_response, one))
    ]  # fmt: skip
    for responses in questions:
        for one in reversed(responses if isinstance(responses, list) else []):
            if isinstance(one, list):
                return one
            if _is_response(one) and one.get("status", "submitted") == "submitted":
                return list(one["value"])
    return None


def _suggested(value: dict[str, Any]) -> list[Any] | None:
    if "prediction" in value:
        return _triples(value["prediction"])
    given = value.get(_SUGGESTIONS)
    found = list(given.values()) if isinstance(given, dict) else _at(value, _OF_SUGGESTIONS)
    spans = (one["value"] if _is_response(one) else one for one in found)
    return next((one for one in spans if isinstance(one, list)), None)


def _at(value: dict[str, Any], ends: tuple[str, ...]) -> list[Any]:
    return [one for name, one in value.items() if name.endswith(ends)]


def _is_response(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("value"), list)


def _triples(spans: Any) -> list[Any] | None:
    """Argilla 1 has the label first, and a score last."""
    if not isinstance(spans, list):
        return None
    return [
        [one[1], one[2], one[0]] if isinstance(one, list) and len(one) in (3, 4) else one
        for one in spans
    ]


class Gliner(WordFormat):
    """Objects with words, and spans as the first word, the last word and the label."""

    name: ClassVar[str] = "gliner"
    suffixes: ClassVar[tuple[str, ...]] = (".json", ".jsonl")

    def recognises(self, source: Source) -> bool:
        return {"tokenized_text", "ner"} <= source.first.keys()

    def read(self, source: Source, options: FormatOptions) -> list[Document]:
        def sentence(row: Row) -> Iterator[Document]:
            words, replaced = usable_words(row, row.list_of("tokenized_text"), options)
            if not words:
                row.fail("there are no words", "Give each text a list of words")
            spans = [_span_of_words(row, one, len(words)) for one in row.list_of("ner")]
            spans.sort(key=lambda span: (span.start, -span.end))
            found = Sentence(words, tuple(spans), line=row.line, replaced=replaced)
            yield Document((found,), None)

        return list(each(source.rows(options.on_bad), sentence, options.on_bad))


def _span_of_words(row: Row, span: Any, n: int) -> LabelledSpan:
    """Raises `CorpusError` for what are no two words of n, and a label."""
    is_span = isinstance(span, list) and list(map(type, span)) == [int, int, str]
    if not is_span or not 0 <= span[0] <= span[1] < n:
        problem = f"'ner' has {span!r} for {n} words, not [first word, last word, label]"
        row.fail(problem, "Words count from 0. Correct it")
    return LabelledSpan(span[0], span[1] + 1, checked_label(span[2], row.fail))
