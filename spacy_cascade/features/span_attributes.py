"""Attributes of the span: its length, and the other spans around it."""

from __future__ import annotations

from typing import Any

from ..types import Keys1d
from .attributes import ContextAttribute, LengthAttribute, TextOf
from .span_context import SpanContext, value_text

CONTEXT = {
    "brackets": SpanContext.brackets,
    "elsewhere": SpanContext.elsewhere,
    "type_elsewhere": SpanContext.type_elsewhere,
    "type_before": SpanContext.type_before,
    "gap_before": SpanContext.gap_before,
    "type_after": SpanContext.type_after,
    "gap_after": SpanContext.gap_after,
}


class Size(LengthAttribute):
    """The number of tokens."""

    def values(self, lengths: Keys1d) -> Keys1d:
        return lengths


class Surroundings(ContextAttribute):
    """A method of `SpanContext`, by its name."""

    def values(self, spans: SpanContext, resource: Any) -> Keys1d:
        return CONTEXT[self.name](spans)

    def describe(self, value: int, text_of: TextOf, resource: Any) -> str:
        return value_text(value, text_of)
