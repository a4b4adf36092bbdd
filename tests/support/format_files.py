"""Files of annotated corpora in any format: written, read, and what was read of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from spacy.tokens import Doc, DocBin

from helpers import PROJECT, blank
from spacy_cascade.tools.formats.exchange.base import FormatOptions, TextFormat
from spacy_cascade.tools.formats.exchange.registry import AUTO, find_sources
from spacy_cascade.tools.formats.texts import AnnotatedText, LeftOut, Record

FILES = PROJECT / "tests" / "tools" / "formats" / "exchange" / "files"
"""Written by the libraries of the tools themselves."""


def written(path: Path, content: str | bytes) -> Path:
    """The path of a file that now has the content."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def doccano(path: Path, *rows: tuple[str, Sequence[tuple[int, int, str]]]) -> Path:
    """A file of Doccano with texts and their spans."""
    lines = [json.dumps({"text": text, "label": spans}) + "\n" for text, spans in rows]
    return written(path, "".join(lines))


def records_in(path: Path, form: str = AUTO, **options: Any) -> list[Record]:
    """What a format with text reads of a file or folder."""
    reader, sources = find_sources(path, form)
    assert isinstance(reader, TextFormat)
    return [one for source in sources for one in reader.read(source, FormatOptions(**options))]


def texts_in(path: Path, form: str = AUTO, **options: Any) -> list[AnnotatedText]:
    return texts_of(records_in(path, form, **options))


def texts_of(records: Iterable[Record]) -> list[AnnotatedText]:
    return [one for one in records if isinstance(one, AnnotatedText)]


def left_out_of(records: Iterable[Record]) -> list[str]:
    return [one.reason for one in records if isinstance(one, LeftOut)]


def entities_of(*texts: AnnotatedText) -> list[tuple[str, str]]:
    """The text and the label of each span."""
    return [(m.text_in(text.text), m.label) for text in texts for m in text.mentions]


def docs_in(path: Path) -> list[Doc]:
    """The Docs of a `.spacy` file."""
    return list(DocBin().from_disk(path).get_docs(blank().vocab))


def entities_in(path: Path) -> list[tuple[str, str]]:
    """The text and the label of each entity of a `.spacy` file."""
    return [(span.text, span.label_) for doc in docs_in(path) for span in doc.ents]
