"""Spans of an annotation that are no entities of a Doc: kept beside them, so that others see them.

A tokenizer that ends tokens elsewhere would perhaps have kept them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from spacy.tokens import Doc

_KEY = "spacy_cascade.lost_spans"
CUTS = "that cut a token"


class Lost(NamedTuple):
    """A span of characters, its end exclusive; reason: as in `that cut a token`."""

    start: int
    end: int
    label: str
    reason: str


def keep_lost(doc: Doc, spans: Iterable[Lost]) -> None:
    """Note the spans in `doc.user_data`; a DocBin with `store_user_data` saves them."""
    if kept := [list(span) for span in spans]:
        doc.user_data[_KEY] = kept


def lost_spans(doc: Doc) -> list[Lost]:
    """Spans that begin or end inside a token."""
    return [Lost(*span) for span in doc.user_data.get(_KEY, ())]


def count_lost(docs: Iterable[Doc]) -> Counter[str]:
    """How many spans were lost for each reason."""
    return Counter(span.reason for doc in docs for span in lost_spans(doc))
