"""`.spacy`: annotated Docs with their confidences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from spacy.tokens import Doc, DocBin

from ..layout import Layout
from ..sources.base import Fields
from .base import Found, Writer
from .json_lines import as_json

RECORD = "record"
"""Key of `doc.user_data` with the id and the other columns of a record."""


class DocWriter(Writer):
    """A `DocBin`, which is in memory until the shard is complete."""

    suffix = ".spacy"
    largest_shard = 8_000_000

    def __init__(self, path: Path, layout: Layout, schema: Any) -> None:
        super().__init__(path, layout, schema)
        self._docs = DocBin(store_user_data=True)

    def of_doc(self, doc: Doc, text: str, fields: Fields, i: int) -> Found:
        doc.user_data[RECORD] = json.loads(as_json(fields[i]))
        self._docs.add(doc)
        return super().of_doc(doc, text, fields, i)

    def write(self, found: list[Found], fields: Fields) -> None:
        """The Docs are kept already."""

    def close(self) -> None:
        self._docs.to_disk(self.path)

    def abandon(self) -> None:
        """No file is open."""
