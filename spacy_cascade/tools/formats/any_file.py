"""The annotated texts of a file of any format, whether it has text, words or Docs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import spacy
from spacy.tokens import Doc

from ...pipeline.readers import read_docs
from ...pipeline.spans.confidences import confidence_of
from ...text_sources import DOCS
from .docs import style_of, to_docs
from .exchange.base import FormatOptions, TextFormat
from .exchange.registry import find_sources
from .placing import text_of
from .spacing import Spacing
from .texts import Record


def read_records(path: Path, form: str, options: FormatOptions, lang: str) -> Iterator[Record]:
    """What a `.spacy` file or a file or folder of any format that `convert` reads has.

    Words get the spaces between them that `convert` restores, in part by lang.
    """
    vocab = spacy.blank("xx").vocab
    if path.suffix == DOCS:
        for number, doc in enumerate(read_docs(path, vocab), start=1):
            yield _record_of(doc, f"{path}, document {number}")
        return
    reader, sources = find_sources(path, form)
    if isinstance(reader, TextFormat):
        for source in sources:
            yield from reader.read(source, options)
        return
    documents = [document for one in sources for document in reader.read(one, options)]
    style, spacing = style_of(documents, Spacing.NATURAL)
    made = to_docs(documents, vocab, spacing=spacing, style=style, lang=lang)
    for document, doc in zip(documents, made, strict=True):
        yield _record_of(doc, f"{path}:{document.sentences[0].line}")


def _record_of(doc: Doc, where: str) -> Record:
    is_annotated = doc.has_annotation("ENT_IOB")
    return replace(text_of(doc, confidence_of, where=where), is_annotated=is_annotated)
