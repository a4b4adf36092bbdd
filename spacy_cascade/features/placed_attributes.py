"""Attributes of the token in its Doc and of the span: tags, lexicons, lengths, other spans."""

from __future__ import annotations

from typing import Any

from ..types import Ints2d, Keys1d
from .attributes import (
    ContextAttribute,
    LengthAttribute,
    TextOf,
    TokenAttribute,
)
from .span_context import SpanContext, value_text
from .tokens import Tokens

CONTEXT = (
    "brackets", "elsewhere", "type_elsewhere", "type_before", "gap_before", "type_after",
    "gap_after",
)  # fmt: skip
"""Attributes of spans that are methods of `SpanContext`."""


class Tag(TokenAttribute):
    """The fine-grained part of speech, `token.tag_`."""

    reads = ("tags",)

    def values(self, tokens: Tokens, resource: Any, own_flags: Ints2d | None) -> Keys1d:
        return tokens.tags


class PartOfSpeech(TokenAttribute):
    """The coarse part of speech, `token.pos_`."""

    reads = ("parts_of_speech",)

    def values(self, tokens: Tokens, resource: Any, own_flags: Ints2d | None) -> Keys1d:
        return tokens.parts_of_speech


class Size(LengthAttribute):
    """The number of tokens of the span."""

    def values(self, lengths: Keys1d) -> Keys1d:
        return lengths


class AroundSpan(ContextAttribute):
    """One of `CONTEXT`."""

    def values(self, spans: SpanContext, resource: Any) -> Keys1d:
        values: Keys1d = getattr(spans, self.name)()
        return values

    def describe(self, value: int, text_of: TextOf, resource: Any) -> str:
        return value_text(value, text_of)
