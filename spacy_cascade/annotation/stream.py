"""Streams of annotation tools: JSONL with the keys of Prodigy, a sentence on each line.

    {"text": …, "tokens": [{"text", "start", "end", "id", "ws"}, …],
     "spans": [{"start", "end", "token_start", "token_end", "label"}, …], "answer": "accept"}

Characters count from the begin of the text; `token_end` is inclusive.
(https://prodi.gy/docs/api-interfaces)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import filter_spans

from ..errors import CorpusError
from ..files import UNREADABLE, text_lines
from ..pipeline.readers import SENTENCES, examples_for, input_doc, read_docs
from .suggest import Suggestion

Record = dict[str, Any]
_TEXTS = (".txt", ".txt.gz")
_JSONL = (".jsonl", ".jsonl.gz")
_DIGITS = 4
_LISTED = 10
"""Unsure spans that a record names."""


@dataclass(frozen=True)
class Annotated:
    """What came back from annotators.

    examples: to learn from. skipped: records that were rejected or ignored. misaligned: texts of
    spans that begin or end inside a token; their tokens count as missing.
    """

    examples: list[Example]
    skipped: int = 0
    misaligned: tuple[str, ...] = ()


def record_of(suggestion: Suggestion, measure: str, where: str) -> Record:
    """A suggested sentence with the entities that the pipeline finds, and their confidences.

    where: the text comes from. `meta` names the spans that it is least sure of.
    """
    doc, sentence = suggestion.doc, suggestion.sentence
    part = doc[sentence.start : sentence.end]
    spans = [
        {
            **_place(doc, entity.start, entity.end, sentence.start),
            "label": entity.label_,
            "score": None if entity._.confidence is None else round(entity._.confidence, _DIGITS),
        }
        for entity in part.ents
    ]
    unsure = [
        {
            **_place(doc, span.start, span.end, sentence.start),
            "text": doc[span.start : span.end].text,
            "label": span.label,
            "probability": round(span.probability, _DIGITS),
            measure: round(span.value, _DIGITS),
        }
        for span in sentence.spans[:_LISTED]
    ]
    tokens = [
        {
            "text": token.text,
            "start": token.idx - part.start_char,
            "end": token.idx - part.start_char + len(token),
            "id": token.i - part.start,
            "ws": bool(token.whitespace_),
        }
        for token in part
    ]
    meta = {"source": where, measure: round(sentence.value, _DIGITS), "unsure": unsure}
    score = round(sentence.value, _DIGITS)
    return {"text": part.text, "tokens": tokens, "spans": spans, "score": score, "meta": meta}


def _place(doc: Doc, start: int, end: int, first: int) -> Record:
    """Characters and tokens of a span, counted from the token `first` of the Doc."""
    span, begin = doc[start:end], doc[first].idx
    return {
        "start": span.start_char - begin,
        "end": span.end_char - begin,
        "token_start": start - first,
        "token_end": end - 1 - first,
    }


def read_texts(path: Path, nlp: Language) -> tuple[list[str | Doc], list[str]]:
    """Texts to choose from, and where each comes from: `.txt`, `.jsonl` with `text`, or `.spacy`.

    A line is a text; both may be compressed (`.gz`). Of Docs the words and sentences are taken.
    Raises `CorpusError` where there is none, or the file cannot be read.
    """
    texts: list[str | Doc] = []
    name = path.name.lower()
    if name.endswith(_JSONL):
        numbered = [(i, _text(record, path, i)) for i, record in read_records(path)]
    elif name.endswith(_TEXTS):
        numbered = [(i, line.strip()) for i, line in _lines(path)]
    else:
        docs = read_docs(path, nlp.vocab)
        texts = [input_doc(doc, (SENTENCES,), nlp.vocab) for doc in docs if len(doc)]
        numbered = []
    texts += [text for _, text in numbered if text]
    where = [f"{path.name}:{i}" for i, text in numbered if text]
    where = where or [f"{path.name} #{i}" for i in range(1, len(texts) + 1)]
    if not texts:
        raise CorpusError(f"{path} has no text. Give a file with a text on each line.")
    return texts, where


def read_annotated(path: Path, nlp: Language) -> Annotated:
    """The examples of a `.spacy` file, or of JSONL as annotation tools write it.

    Records are taken whole: what is no span is outside. Those whose `answer` is not "accept" are
    left out. Raises `CorpusError` for a file that cannot be read, or that has nothing to learn.
    """
    if not path.name.lower().endswith(_JSONL):
        return Annotated(list(examples_for(nlp, path)))
    examples, misaligned, skipped = [], list[str](), 0
    for i, record in read_records(path):
        if record.get("answer", "accept") != "accept":
            skipped += 1
            continue
        try:
            examples.append(example_of(record, nlp, misaligned))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise CorpusError(
                f"{path}, line {i}: no annotated text ({type(error).__name__}: {error}). A line "
                'is {"text": …, "spans": [{"start": …, "end": …, "label": …}, …]}.'
            ) from None
    if not examples:
        raise CorpusError(f"{path} has no accepted annotation. Annotate some sentences first.")
    return Annotated(examples, skipped, tuple(misaligned))


def example_of(record: Mapping[str, Any], nlp: Language, misaligned: list[str]) -> Example:
    """One annotated text; the texts of spans that no tokens express are added to `misaligned`.

    Raises an error where keys are missing or have other values.
    """
    text = record["text"]
    if tokens := record.get("tokens"):
        spaces = [token.get("ws", True) for token in tokens]
        doc = Doc(nlp.vocab, words=[token["text"] for token in tokens], spaces=spaces)
    else:
        doc = nlp.make_doc(text)
    found, missing = [], []
    for span in record.get("spans") or ():
        start, end, label = int(span["start"]), int(span["end"]), str(span["label"])
        entity = doc.char_span(start, end, label)
        if entity is not None:
            found.append(entity)
            continue
        misaligned.append(text[start:end])
        around = doc.char_span(start, end, alignment_mode="expand")
        missing += [] if around is None else [around]
    entities = filter_spans(found)
    taken = {token.i for entity in entities for token in entity}
    missing = [doc[t.i : t.i + 1] for span in missing for t in span if t.i not in taken]
    doc.set_ents(entities, missing=missing, default="outside")
    return Example(input_doc(doc, (), nlp.vocab), doc)


def _text(record: Mapping[str, Any], path: Path, line: int) -> str:
    text = record.get("text")
    if not isinstance(text, str):
        raise CorpusError(f"{path}, line {line}: there is no 'text'. Give each record one.")
    return text.strip()


def read_records(path: Path) -> Iterator[tuple[int, Record]]:
    """The records of a JSONL file with the numbers of their lines."""
    for i, line in _lines(path):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise CorpusError(f"{path}, line {i} is no JSON: {error}. Check the file.") from None
        if not isinstance(record, dict):
            raise CorpusError(f"{path}, line {i} is no JSON object. A line has one each.")
        yield i, record


def _lines(path: Path) -> Sequence[tuple[int, str]]:
    try:
        return list(enumerate(text_lines(path), 1))
    except UNREADABLE as error:
        raise CorpusError(f"Cannot read {path}: {error}. Check the path.") from None
