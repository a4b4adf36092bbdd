"""Attributes of tokens and spans that abbreviations of their Doc give."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...features.attributes import (
    Attribute,
    ContextAttribute,
    LinkingAttribute,
    Options,
    TextOf,
)
from ...features.resources import ResourceSpec
from ...features.span_context import SpanContext, value_text
from ...features.tokens import Tokens
from ...types import Ints2d, Keys1d
from .long_forms import PARTS, abbreviation_parts
from .resource import Explained

EXPLAINED = ResourceSpec(Explained, "abbreviations")


class AbbreviationPart(LinkingAttribute):
    """The token's part in the explanation of an abbreviation, or that it is one (`long_forms`)."""

    links = EXPLAINED

    @classmethod
    def expand(cls, name: str, argument: str | None, options: Options) -> Iterable[Attribute]:
        super().expand(name, argument, options)
        return [cls(name, EXPLAINED)]

    def values(self, tokens: Tokens, resource: Explained, own_flags: Ints2d | None) -> Keys1d:
        found, links = resource.of(tokens)
        return abbreviation_parts(links.number, found)

    def describe(self, value: int, text_of: TextOf, resource: Any) -> str:
        return PARTS[value]


class TypeOfLongForm(ContextAttribute):
    """Label of the span found where the long form ends that the span abbreviates.

    A span abbreviates the long form of its last token. "nothing" where no span was found there.
    """

    @classmethod
    def expand(cls, name: str, argument: str | None, options: Options) -> Iterable[Attribute]:
        super().expand(name, argument, options)
        return [cls(name, EXPLAINED)]

    def values(self, spans: SpanContext, resource: Explained) -> Keys1d:
        links = resource.links(spans.tokens)
        number = links.number[spans.end - 1]
        head = np.append(links.end - 1, -1)[number]
        return np.where(number >= 0, spans.label_over(head), np.uint64(0))

    def describe(self, value: int, text_of: TextOf, resource: Any) -> str:
        return value_text(value, text_of)
