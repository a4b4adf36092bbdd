"""Spans of an annotation that are no entities of a Doc: kept beside them, so that others see them.

A tokenizer that ends tokens elsewhere would perhaps have kept them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from spacy.tokens import Doc

from ...pipeline.spans.left_out import LeftOutSpan, left_out_span, parts_of

_KEY = "spacy_cascade.lost_spans"


def keep_lost(doc: Doc, spans: Iterable[LeftOutSpan]) -> None:
    """Note the spans in `doc.user_data`; a DocBin with `store_user_data` saves them."""
    if kept := [[span.start, span.end, span.label, span.reason] for span in spans]:
        doc.user_data[_KEY] = kept


def lost_spans(doc: Doc, document: str | int = "") -> list[LeftOutSpan]:
    """Spans that are no entities; document: its name or number."""
    noted, text = doc.user_data.get(_KEY, ()), doc.text
    return [
        left_out_span(document, text, parts_of(start, end), label, reason)
        for start, end, label, reason in noted
    ]


def count_lost(docs: Iterable[Doc]) -> Counter[str]:
    """How many spans were lost for each reason."""
    return Counter(span.reason for doc in docs for span in lost_spans(doc))
