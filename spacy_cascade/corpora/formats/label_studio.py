"""Label Studio: the exports JSON and JSON-MIN, and tasks with predictions.

Formats: https://labelstud.io/guide/export and https://labelstud.io/guide/predictions
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from ..bad_records import each, each_counted
from ..texts import AnnotatedText, LeftOut, Mention, Record, checked_mention, checked_text
from .base import FormatOptions, TextFormat
from .json_files import scored, write_value
from .source import Row, Source

_WORK = ("annotations", "completions", "predictions")
_MIN = {"annotator", "annotation_id", "lead_time"}
_FROM_NAME, _TO_NAME = "label", "text"
"""Names of the tags in the labelling interface of Label Studio's own template for entities."""
_FURTHER = "further annotations of the same text"


class LabelStudio(TextFormat):
    name: ClassVar[str] = "label-studio"
    suffixes: ClassVar[tuple[str, ...]] = (".json",)

    def recognises(self, source: Source) -> bool:
        first = source.first
        is_task = isinstance(first.get("data"), dict)
        is_min = source.is_list and bool(_MIN & first.keys() or any(map(_is_spans, first.values())))
        return is_task or is_min

    def read(self, source: Source, options: FormatOptions) -> Iterator[Record]:
        seen: set[str] = set()

        def records(row: Row) -> Iterator[Record]:
            if isinstance(row.value.get("data"), dict):
                yield from annotated_task(row, options)
            elif (name := str(row.value.get("id", row.line))) in seen:
                yield LeftOut(_FURTHER)
            else:
                seen.add(name)
                spans = [span for v in row.value.values() if _is_spans(v) for span in v]
                yield _text(row, row.value, spans, options)

        return each(source.rows(options.on_bad), records, options.on_bad)

    def write(self, texts: Sequence[AnnotatedText], path: Path) -> None:
        write_value(path, [_prediction(text) for text in texts])


def _is_spans(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(span, dict) and {"start", "end"} <= span.keys() for span in value)
    )


def annotated_task(row: Row, options: FormatOptions) -> Iterator[Record]:
    """The text of a task with the annotation that counts; the others are left out.

    Raises `CorpusError` for what is no such task.
    """
    done = [work for name in _WORK[:2] for work in row.list_of(name)]
    if not all(isinstance(work, dict) for work in (*done, *row.list_of(_WORK[2]))):
        row.fail("an annotation is no JSON object", "Export the tasks with their annotations")
    kept = [work for work in done if not work.get("was_cancelled")]
    yield from [LeftOut("cancelled annotations")] * (len(done) - len(kept))
    if not kept and options.predictions:
        kept = row.list_of(_WORK[2])[-1:]
    kept.sort(key=lambda work: not work.get("ground_truth"))
    yield from [LeftOut(_FURTHER)] * (len(kept) - 1)
    data: dict[str, Any] = row.value["data"]
    if done and not kept:
        return
    results = kept[0].get("result") if kept else []
    if not isinstance(results, list):
        row.fail("an annotation has no list of results", "Export the tasks once more")
    found = [one.get("value") for one in results if isinstance(one, dict)]
    spans = [value for value in found if isinstance(value, dict)]
    yield _text(row, data, spans, options, is_annotated=bool(kept))


def _text(
    row: Row, data: dict[str, Any], spans: list[Any], options: FormatOptions,
    *, is_annotated: bool = True,
) -> AnnotatedText:  # fmt: skip
    if options.field not in data:
        names = ", ".join(name for name, value in data.items() if isinstance(value, str))
        row.fail(f"there is no text under {options.field!r}", f"Set --field to one of: {names}")
    text = checked_text(data[options.field], row.fail)
    mentions, n_bad = each_counted(spans, partial(_mentions, text, row), options.on_bad)
    return AnnotatedText(
        text, mentions, str(row.value.get("id", "")), row.where, is_annotated=is_annotated,
        bad_spans=n_bad,
    )  # fmt: skip


def _mentions(text: str, row: Row, span: dict[str, Any]) -> Iterator[Mention]:
    """A mention for each label of a span; results without labels, such as choices, have none."""
    start, end, found = span.get("start"), span.get("end"), span.get("text")
    found = found if isinstance(found, str) else ""
    if not span.get("labels"):
        return
    if type(start) is int and type(end) is int and found and text[start:end] != found:
        start, end = _from_utf16(text, start, end, found)
    for label in span["labels"]:
        yield checked_mention(text, start, end, label, row.fail, found)


def _from_utf16(text: str, start: int, end: int, found: str) -> tuple[int, int]:
    """Offsets in characters, of such that count as JavaScript does, if these fit the text."""
    data = text.encode("utf-16-le")
    if data[2 * start : 2 * end] != found.encode("utf-16-le", "surrogatepass"):
        return start, end
    first = len(data[: 2 * start].decode("utf-16-le"))
    return first, first + len(found)


def _prediction(text: AnnotatedText) -> dict[str, Any]:
    """A task to import. The score of a task is that of its least sure entity: tasks sort by it."""
    scores = [mention.score for mention in text.mentions if mention.score is not None]
    result = [
        {
            "id": f"entity-{i}", "from_name": _FROM_NAME, "to_name": _TO_NAME, "type": "labels",
            "value": {
                "start": mention.start, "end": mention.end,
                "text": mention.text_in(text.text), "labels": [mention.label],
            },
            **scored(mention),
        }
        for i, mention in enumerate(text.mentions)
    ]  # fmt: skip
    prediction: dict[str, Any] = {"model_version": "spacy_cascade", "result": result}
    data = {"text": text.text, **({"name": text.name} if text.name else {})}
    return {"data": data, "predictions": [prediction | ({"score": min(scores)} if scores else {})]}
