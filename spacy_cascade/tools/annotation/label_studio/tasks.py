"""Tasks, annotations and predictions of Label Studio, to and from texts with spans.

A region of a text has `value`: `start` and `end` in characters, `text`, and `labels`
(https://labelstud.io/guide/predictions).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn
from xml.etree import ElementTree

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from ....errors import CorpusError
from ...explaining.uncertainty import MEASURES, before_segmenter, likely_entities, measured
from ...formats.exchange.base import FormatOptions
from ...formats.exchange.label_studio import annotated_task
from ...formats.exchange.source import Row
from ...formats.texts import AnnotatedText, checked_text
from ...reports.reading import stages_of
from ...tokenizers.tokenizing import tokenize
from ..stream import Record
from .bodies import Annotation, Id, Task
from .journal import forgotten

MOST_LABELS = 100
"""Of a text; training takes the longer the more labels there are."""
_DIGITS = 4
_TYPE = "labels"
_TEXT = "text"


@dataclass(frozen=True)
class Labelling:
    """Names that the labelling interface of a project has.

    labels, text: of its `<Labels>` and `<Text>`. data: key of the text in the data of a task.
    """

    labels: str = "label"
    text: str = "text"
    data: str = "text"

    @classmethod
    def read(cls, config: str | None) -> Labelling:
        """Raises `CorpusError` for an interface that does not label spans of a text."""
        if not config:
            return cls()
        try:
            root = ElementTree.fromstring(config)
        except ElementTree.ParseError as error:
            raise CorpusError(f"The labelling interface is no XML: {error}.") from None
        texts = {element.get("name"): element for element in root.iter("Text")}
        for element in root.iter("Labels"):
            text = texts.get(element.get("toName"))
            if text is not None:
                data = text.get("value", "$text").lstrip("$")
                return cls(element.get("name", ""), text.get("name", ""), data)
        raise CorpusError(
            "The labelling interface has no <Labels> for a <Text>. Set up the project with the "
            "template for named entity recognition."
        )


def text_of(task: object, labelling: Labelling, most_characters: int) -> str:
    """The text of a task. Raises `CorpusError` where there is none that can be annotated."""
    task = task if isinstance(task, Mapping) else {}
    data, known = task.get("data"), task.get("id")
    name = f"Task {known!r:.60}" if isinstance(known, int | str) else "A task without an id"

    def fail(problem: str, advice: str) -> NoReturn:
        raise CorpusError(f"{name}, data['{labelling.data}']: {problem}. {advice}.")

    text = checked_text(data.get(labelling.data) if isinstance(data, Mapping) else None, fail)
    if len(text) > most_characters:
        fail(
            f"the text has {len(text):,} characters; the pipeline takes {most_characters:,}",
            "Split it into several tasks",
        )
    return text


def changes_of(
    task: Task, annotations: Iterable[Annotation], labelling: Labelling, most_characters: int
) -> Iterator[Record]:
    """What a `Journal` keeps of annotations of a task.

    Raises `CorpusError` for what cannot be learnt: other regions than spans of the text, or too
    many labels.
    """
    text = text_of({"id": task.id, "data": task.data}, labelling, most_characters)
    for annotation in annotations:
        if annotation.was_cancelled:
            yield forgotten(task.id, annotation.id, text)
            continue
        spans = [
            {"start": mention.start, "end": mention.end, "label": mention.label}
            for mention in _read(task.id, text, annotation).mentions
        ]
        yield {"text": text, "spans": spans, "task": task.id, "annotation": annotation.id}


def _read(name: Id | None, text: str, annotation: Annotation) -> AnnotatedText:
    for region in annotation.result:
        value = region.get("value")
        labels = value.get("labels") if isinstance(value, dict) else None
        if labels is not None and not (
            isinstance(labels, list) and all(isinstance(label, str) for label in labels)
        ):
            raise CorpusError(f"A region of task {name} has 'labels' that are no list of texts.")
    work = {"result": annotation.result}
    row = Row({"data": {_TEXT: text}, "annotations": [work]}, 1, Path(f"task {name}"))
    for found in annotated_task(row, FormatOptions(field=_TEXT)):
        if isinstance(found, AnnotatedText):
            check_labels(found, ())
            return found
    raise CorpusError(f"An annotation of task {name} cannot be read.")


def check_labels(text: AnnotatedText, known: Collection[str]) -> set[str]:
    """The labels of a text that are not known yet. Raises `CorpusError` for too many."""
    new = {mention.label for mention in text.mentions}.difference(known)
    if len(new) > MOST_LABELS:
        raise CorpusError(
            f"{text.where} has {len(new):,} labels; {MOST_LABELS} at most can be learnt from a "
            "text. Label kinds of entities, not single ones."
        )
    return new


def predict_tasks(
    nlp: Language, tasks: Sequence[object], labelling: Labelling, version: str
) -> list[Record]:
    """A prediction for each task; where a task has no text it says so under `error`, without one.

    Raises `CorpusError` if no task has a text.
    """
    found: list[str | CorpusError] = [_text_or_error(nlp, task, labelling) for task in tasks]
    texts = [text for text in found if isinstance(text, str)]
    errors = [error for error in found if isinstance(error, CorpusError)]
    if errors and not texts:
        raise errors[0]
    made = iter(predict(nlp, texts, labelling, version))
    return [
        next(made) if isinstance(text, str) else {"model_version": version, "error": str(text)}
        for text in found
    ]


def _text_or_error(nlp: Language, task: object, labelling: Labelling) -> str | CorpusError:
    try:
        return text_of(task, labelling, nlp.max_length)
    except CorpusError as error:
        return error


def predict(
    nlp: Language, texts: Sequence[str], labelling: Labelling, version: str
) -> list[Record]:
    """A prediction for each text.

    Its score is the least probability, over the sentences, of the best segmentation: Label Studio
    can show tasks of low scores first.
    """
    docs = list(nlp.pipe(tokenize(nlp, text) for text in texts))
    scores = _sureness(nlp, docs)
    return [
        {
            "model_version": version,
            "score": score,
            "result": [
                {
                    "id": f"{entity.start_char}-{entity.end_char}",
                    "from_name": labelling.labels,
                    "to_name": labelling.text,
                    "type": _TYPE,
                    "score": _rounded(entity._.confidence),
                    "value": {
                        "start": entity.start_char,
                        "end": entity.end_char,
                        "text": entity.text,
                        "labels": [entity.label_],
                    },
                }
                for entity in doc.ents
            ],
        }
        for doc, score in zip(docs, scores, strict=True)
    ]


def _sureness(nlp: Language, docs: Sequence[Doc]) -> list[float | None]:
    stages = stages_of(nlp)
    if stages is None:
        return [None] * len(docs)
    fresh = [tokenize(nlp, doc.text) for doc in docs]
    likely = likely_entities(stages, before_segmenter(nlp, stages, fresh))
    unsure = measured(likely, MEASURES["least_confident"]).of_sentences
    doc_starts = likely.batch.tokens.doc_starts
    doc_of = np.searchsorted(doc_starts, likely.starts[:-1], side="right") - 1
    largest = np.zeros(len(docs))
    np.maximum.at(largest, doc_of, unsure)
    return [_rounded(1.0 - value) for value in largest.tolist()]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
