"""Streams of annotation tools: JSONL with the keys of Prodigy, a sentence on each line.

    {"text": …, "tokens": [{"text", "start", "end", "id", "ws"}, …],
     "spans": [{"start", "end", "token_start", "token_end", "label"}, …], "answer": "accept"}

Characters count from the begin of the text; `token_end` is inclusive.
(https://prodi.gy/docs/api-interfaces)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from ..errors import CorpusError
from ..files import UNREADABLE, text_lines
from ..pipeline.readers import SENTENCES, input_doc, read_docs
from .suggest import Suggestion

Record = dict[str, Any]
_TEXTS = (".txt", ".txt.gz")
_JSONL = (".jsonl", ".jsonl.gz")
_DIGITS = 4
_LISTED = 10
"""Unsure spans that a record names."""


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
