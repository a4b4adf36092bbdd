"""Entities as rows of a table, as for `pandas.DataFrame`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypedDict

from spacy.tokens import Doc

from .confidences import confidence_of


class EntityRow(TypedDict):
    """An entity: the number of its document, from 0; its characters, the end exclusive."""

    document: int
    start: int
    end: int
    text: str
    label: str
    confidence: float | None


def entity_rows(docs: Iterable[Doc], spans_key: str | None = None) -> Iterator[EntityRow]:
    """A row for each entity, in the order of the documents; they are taken one after the other.

    spans_key: of a group in `doc.spans` whose spans are the rows in place of the entities; a Doc
    without it has none. A confidence is None where no component has one.
    """
    for number, doc in enumerate(docs):
        for span in doc.ents if spans_key is None else doc.spans.get(spans_key, ()):
            yield EntityRow(
                document=number, start=span.start_char, end=span.end_char, text=span.text,
                label=span.label_, confidence=confidence_of(span),
            )  # fmt: skip
