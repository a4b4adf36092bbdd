"""Label Studio: the exports JSON and JSON-MIN, and tasks with predictions.

Texts, pages of HTML and dialogues have spans. What else a project may have is left out and counted.

Formats: https://labelstud.io/guide/export and https://labelstud.io/guide/predictions
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from ..bad_records import each, each_counted
from ..texts import AnnotatedText, LeftOut, Mention, Record, checked_mention, checked_text
from .base import FormatOptions, TextFormat, library, scored, write_value
from .regions import Reading, best_reading, of_dialogue, of_page, of_text, own_text, page_of
from .source import Row, Source

_DONE, _PREDICTIONS = ("annotations", "completions"), "predictions"
_WORK = {*_DONE, _PREDICTIONS}
_TO_IMPORT = {"id", "data", "meta"}
_MIN = {"annotator", "annotation_id", "lead_time"}
_FROM_NAME, _TO_NAME = "label", "text"
"""Names of the tags in the labelling interface of Label Studio's own template for entities."""
_PAGES = {"hypertextlabels", "htmllabels"}
_SPANS = {"labels", "paragraphlabels", *_PAGES}
_OTHERS = {
    "relation": "relations", "choices": "choices", "taxonomy": "choices", "rectangle": "boxes",
    "rectanglelabels": "boxes",
}  # fmt: skip
"""Types of results that are no spans of a text, as they are called in messages."""
_FURTHER = "further annotations of the same text"
_NO_SPANS = "texts whose annotation has no spans of text, in a file without any"


class LabelStudio(TextFormat):
    """Lists of tasks with regions: the exports JSON and JSON-MIN."""

    name: ClassVar[str] = "label-studio"
    suffixes: ClassVar[tuple[str, ...]] = (".json",)

    def recognises(self, source: Source) -> bool:
        first = source.first
        if isinstance(first.get("data"), dict):
            return bool(_WORK & first.keys()) or first.keys() <= _TO_IMPORT
        is_export = len(_MIN & first.keys()) > 1
        return source.is_list and (is_export or any(map(_is_regions, first.values())))

    def read(self, source: Source, options: FormatOptions) -> Iterator[Record]:
        seen: set[str] = set()

        def tasks_of(row: Row) -> Iterator[_Task | LeftOut]:
            name = str(row.value.get("id", row.line))
            if isinstance(row.value.get("data"), dict):
                yield from _of_task(row, options)
            elif name in seen and not options.all_annotators:
                yield LeftOut(_FURTHER)
            else:
                seen.add(name)
                yield _of_min(row)

        found = list(each(source.rows(options.on_bad), tasks_of, options.on_bad))
        tasks = [one for one in found if isinstance(one, _Task)]
        _leave_out_other_texts(tasks, options.field)
        has_spans = any(task.regions for task in tasks)
        has_pages = any(task.has_pages for task in tasks)

        def records_of(one: _Task | LeftOut) -> Iterator[Record]:
            if isinstance(one, LeftOut):
                yield one
                return
            yield from map(LeftOut, one.others)
            if one.may_have_choices and not has_spans:
                yield LeftOut(_NO_SPANS)
            else:
                yield one.text(options, is_page=has_pages)

        yield from each(found, records_of, options.on_bad)

    def write(self, texts: Sequence[AnnotatedText], path: Path) -> None:
        write_value(path, [_prediction(text) for text in texts])


class _Region(NamedTuple):
    """A span. of: name of the text in the labelling interface, None if the export does not say."""

    value: dict[str, Any]
    labels: list[Any]
    of: Any


@dataclass
class _Task:
    """A task with one annotation.

    regions: its spans. others: what else it has, each by its kind. is_min: whether it is of
    JSON-MIN, where choices cannot be told from data. annotator: who has annotated it.
    """

    row: Row
    data: dict[str, Any]
    is_annotated: bool
    regions: list[_Region] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    is_min: bool = False
    annotator: str = ""

    @property
    def may_have_choices(self) -> bool:
        """Whether it may have been annotated with something that is no span."""
        return self.is_min or bool(self.others)

    @property
    def has_pages(self) -> bool:
        return any(
            bool(_PAGES & value.keys()) or str(value.get("start")).startswith("/")
            for value, *_ in self.regions
        )

    def add(self, result: Any) -> None:
        """Take a result of the annotation as a span, or as something else."""
        if not isinstance(result, dict):
            self.row.fail("a result is no JSON object", "Export the tasks once more")
        value = result.get("value")
        key = _key_of_labels(value)
        kind = str(result.get("type") or key).lower()
        if kind not in _SPANS:
            self.others.append(_OTHERS.get(kind, f"results of the type {kind or 'unknown'}"))
        elif not isinstance(value, dict):
            self.row.fail(f"a result of the type {kind} has no value", "Export the tasks once more")
        elif "original_length" in result or "channel" in value:
            self.others.append("regions of audio or video")
        elif not (key and value[key]):
            self.others.append("regions without a label")
        else:
            self.regions.append(_Region(value, value[key], result.get("to_name")))

    def text(self, options: FormatOptions, *, is_page: bool) -> AnnotatedText:
        """Raises `CorpusError` where there is no text; `on_bad` takes those of bad regions."""
        fail, values = self.row.fail, [value for value, *_ in self.regions]
        reading = best_reading(self._readings(options, is_page), values)

        def mentions_of(region: _Region) -> Iterator[Mention]:
            value, labels, _ = region
            ends = reading.locate(value)
            if ends is None:
                fail(f"a region does not say where it is: {value}", "Export the tasks once more")
            found = "" if reading.fits(value) else own_text(value)
            for label in labels:
                yield checked_mention(reading.text, *ends, label, fail, found)

        mentions, n_bad = each_counted(self.regions, mentions_of, options.on_bad)
        name, where = str(self.row.value.get("id", "")), self.row.where
        return AnnotatedText(
            reading.text, mentions, name, where, is_annotated=self.is_annotated, bad_spans=n_bad,
            annotator=self.annotator,
        )  # fmt: skip

    def _readings(self, options: FormatOptions, is_page: bool) -> Sequence[Reading]:
        dialogues = [name for name, value in self.data.items() if _is_dialogue(value)]
        name = options.field
        if name not in self.data:
            if len(dialogues) != 1:
                texts = [name for name, value in self.data.items() if isinstance(value, str)]
                names = ", ".join([*texts, *dialogues])
                self.row.fail(f"there is no text under {name!r}", f"Set --field to one of: {names}")
            (name,) = dialogues
        if name in dialogues:
            return of_dialogue(self.data[name], self.row.fail)
        text = checked_text(self.data[name], self.row.fail)
        if not is_page:
            return of_text(text)
        return of_page(page_of(text, library("lxml.etree", LabelStudio.name)))


def _leave_out_other_texts(tasks: Sequence[_Task], name: str) -> None:
    """Keep the regions of one text of each task, where the interface names texts as the data do.

    Where it does not name any as this one, nothing can be told, and tasks have one text.
    """
    if all(region.of != name for task in tasks for region in task.regions):
        return
    for task in tasks:
        others = task.data.keys() - {name}
        task.others += [
            f"regions of another text (--field {one.of} reads it)"
            for one in task.regions
            if str(one.of) in others
        ]
        task.regions = [one for one in task.regions if str(one.of) not in others]


def _key_of_labels(value: Any) -> str:
    """Where the value of a region has its labels, "" if it has none."""
    names = value.items() if isinstance(value, dict) else ()
    return next((n for n, v in names if n.endswith("labels") and isinstance(v, list)), "")


def _is_regions(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_key_of_labels, value))


def _is_dialogue(value: Any) -> bool:
    """Whether a value is a list of objects with texts, and not of regions."""
    return (
        isinstance(value, list)
        and bool(value)
        and not _is_regions(value)
        and all(isinstance(turn, dict) and str in map(type, turn.values()) for turn in value)
    )


def annotated_task(row: Row, options: FormatOptions) -> Iterator[Record]:
    """The text of a task with the annotation that counts; the rest is left out.

    Raises `CorpusError` for what is no such task.
    """
    for found in _of_task(row, options):
        if isinstance(found, LeftOut):
            yield found
        else:
            _leave_out_other_texts([found], options.field)
            yield from map(LeftOut, found.others)
            yield found.text(options, is_page=found.has_pages)


def _of_task(row: Row, options: FormatOptions) -> Iterator[_Task | LeftOut]:
    done = [work for name in _DONE for work in row.list_of(name)]
    if not all(isinstance(work, dict) for work in done):
        row.fail("an annotation is no JSON object", "Export the tasks with their annotations")
    kept = [work for work in done if not work.get("was_cancelled")]
    yield from [LeftOut("cancelled annotations")] * (len(done) - len(kept))
    if not kept and options.predictions:
        kept = row.list_of(_PREDICTIONS)[-1:]
        if not all(isinstance(work, dict) for work in kept):
            advice = "Export the tasks with the content of their predictions"
            row.fail("the export has only the numbers of predictions", advice)
    kept.sort(key=lambda work: not work.get("ground_truth"))
    if not options.all_annotators:
        yield from [LeftOut(_FURTHER)] * (len(kept) - 1)
        kept = kept[:1]
    if done and not kept:
        return
    for work in kept or [{"result": []}]:
        task = _Task(row, row.value["data"], bool(kept), annotator=_who(work.get("completed_by")))
        results = work.get("result")
        if not isinstance(results, list):
            row.fail("an annotation has no list of results", "Export the tasks once more")
        for result in results:
            task.add(result)
        yield task


def _who(person: Any) -> str:
    """The name of an annotator: an export has a number, or an object with the address."""
    if isinstance(person, dict):
        person = person.get("email") or person.get("id")
    return "" if person is None else str(person)


def _of_min(row: Row) -> _Task:
    who = _who(row.value.get("annotator"))
    task = _Task(row, row.value, is_annotated=True, is_min=True, annotator=who)
    for value in filter(_is_regions, row.value.values()):
        for region in value:
            task.add({"value": region})
    return task


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
