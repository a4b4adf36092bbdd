"""`.spacy`: annotated Docs with their confidences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import srsly
from spacy.tokens import Doc, DocBin

from ..entities import Entity
from ..layout import Layout
from ..plain_json import as_json
from ..sources.base import Fields
from .base import Found, Writer

RECORD = "record"
"""Key of `doc.user_data` with the id and the other columns of a record."""


class DocWriter(Writer):
    """A `DocBin`, which is in memory until the shard is complete."""

    suffix = ".spacy"
    largest_shard = 8_000_000

    def __init__(self, path: Path, layout: Layout, schema: Any) -> None:
        super().__init__(path, layout, schema)
        self._docs = DocBin(store_user_data=True)

    def row(self, doc: Doc, text: str, entities: list[Entity], fields: Fields, i: int) -> None:
        doc.user_data[RECORD] = json.loads(as_json(fields[i]))
        # By itself first, because what fails is added in part. MessagePack cannot have every value,
        # and cannot read again all that it writes.
        alone = DocBin(store_user_data=True, docs=[doc])
        srsly.msgpack_loads(alone.user_data[0], use_list=False)
        srsly.msgpack_dumps(doc.cats)
        self._docs.merge(alone)

    def write(self, found: list[Found], fields: Fields) -> None:
        """The Docs are kept already."""

    def close(self) -> None:
        self._docs.to_disk(self.path)

    def abandon(self) -> None:
        """No file is open."""
