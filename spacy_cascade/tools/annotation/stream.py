"""Streams of annotation tools: JSONL with the keys of Prodigy, a sentence on each line.

    {"text": …, "tokens": [{"text", "start", "end", "id", "ws"}, …],
     "spans": [{"start", "end", "token_start", "token_end", "label"}, …], "answer": "accept"}

Characters count from the begin of the text; `token_end` is inclusive.
(https://prodi.gy/docs/api-interfaces)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from ...errors import CorpusError
from ...pipeline.readers import SENTENCES, input_doc, read_docs
from ...text_sources import DOCS, find_sources, read_texts
from .suggest import Suggestion

Record = dict[str, Any]
_FIELD = "text"
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


def read_pool(path: Path, nlp: Language) -> tuple[list[str | Doc], list[str]]:
    """Texts to choose from, and where each comes from: files as `text_sources` reads them.

    Of a folder all files are read. Of Docs the words and sentences are taken. Raises `CorpusError`
    where there is none, or a file cannot be read.
    """
    texts, where = list[str | Doc](), list[str]()
    for source in find_sources([path]):
        found: list[str | Doc]
        if source.name.lower().endswith(DOCS):
            docs = read_docs(source, nlp.vocab)
            found = [input_doc(doc, (SENTENCES,), nlp.vocab) for doc in docs if len(doc)]
        else:
            found = [text.strip() for text in read_texts(source, _FIELD)]
        texts += found
        where += [f"{source.name} #{i}" for i in range(1, len(found) + 1)]
    if not texts:
        raise CorpusError(f"{path} has no text. Give a file with a text on each line.")
    return texts, where
