"""Tasks, annotations and predictions of Label Studio, to and from texts with spans.

A region of a text has `value`: `start` and `end` in characters, `text`, and `labels`
(https://labelstud.io/guide/predictions).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from ...corpora.formats.base import FormatOptions
from ...corpora.formats.label_studio import annotated_task
from ...corpora.formats.source import Row
from ...corpora.texts import AnnotatedText
from ...errors import CorpusError
from ...explaining.likely import before_segmenter, likely_entities
from ...explaining.posteriors import stages_of
from ...explaining.uncertainty import MEASURES, measured

Task = Mapping[str, Any]
Record = dict[str, Any]
_DIGITS = 4
_TYPE = "labels"


@dataclass(frozen=True)
class Labelling:
    """Names that the labelling interface of a project has.

    labels, text: of its `<Labels>` and `<Text>`. data: key of the text in the data of a task.
    """

    labels: str = "label"
    text: str = "text"
    data: str = "text"

    @classmethod
    def read(cls, config: str) -> Labelling:
        """Raises `CorpusError` for an interface that does not label spans of a text."""
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


def text_of(task: object, labelling: Labelling) -> str:
    """The text of a task. Raises `CorpusError` where there is none."""
    data = task.get("data") if isinstance(task, Mapping) else None
    text = data.get(labelling.data) if isinstance(data, Mapping) else None
    if not isinstance(text, str):
        name = task.get("id", "without an id") if isinstance(task, Mapping) else "of no object"
        raise CorpusError(f"Task {name} has no text in data['{labelling.data}'].")
    return text


def record_of(task: object, annotation: object, labelling: Labelling) -> Record | None:
    """An annotated task as a record (`annotation.stream`); None for one that was skipped.

    Raises `CorpusError` for an annotation without regions of a text.
    """
    text_of(task, labelling)
    assert isinstance(task, Mapping)
    name = task.get("id")
    if not isinstance(annotation, Mapping) or not isinstance(annotation.get("result"), list):
        raise CorpusError(f"An annotation of task {name} has no list 'result'.")
    row = Row({"data": task["data"], "annotations": [annotation]}, 1, Path(f"task {name}"))
    for found in annotated_task(row, FormatOptions(field=labelling.data)):
        if isinstance(found, AnnotatedText):
            spans = [{"start": m.start, "end": m.end, "label": m.label} for m in found.mentions]
            return {"text": found.text, "spans": spans, "task": name}
    return None


def predict(
    nlp: Language, texts: Sequence[str], labelling: Labelling, version: str
) -> list[Record]:
    """A prediction for each text.

    Its score is the least probability, over the sentences, of the best segmentation: Label Studio
    can show tasks of low scores first.
    """
    docs = list(nlp.pipe(texts))
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
    fresh = [nlp.make_doc(doc.text) for doc in docs]
    likely = likely_entities(stages, before_segmenter(nlp, stages, fresh))
    unsure = measured(likely, MEASURES["least_confident"]).of_sequences
    tokens = likely.batch.tokens
    doc_of = np.searchsorted(tokens.doc_starts, tokens.sequence_starts[:-1], side="right") - 1
    largest = np.zeros(len(docs))
    np.maximum.at(largest, doc_of, unsure)
    return [_rounded(1.0 - value) for value in largest.tolist()]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
