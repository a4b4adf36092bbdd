"""Attributes of the token in its Doc and of the span: tags, lexicons, lengths, other spans."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from ..systems.abbreviations.long_forms import PARTS, abbreviation_parts
from ..systems.dictionaries.listed_terms import ExactlyListedTerms, ListedTerms
from ..types import Ints2d, Keys1d
from .attributes import (
    Attribute,
    ContextAttribute,
    LengthAttribute,
    Options,
    TextOf,
    TokenAttribute,
    chosen,
)
from .resources import ResourceSpec
from .span_context import SpanContext, value_text
from .tokens import ABBREVIATIONS, Tokens

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


class Membership(TokenAttribute):
    """`lexicon(NAME)`: whether the token begins a listed term or stands inside one."""

    reads: ClassVar[tuple[str, ...]] = ("lower",)
    kind: ClassVar[type[ListedTerms]] = ListedTerms

    @classmethod
    def expand(cls, name: str, argument: str | None, options: Options) -> Iterable[Attribute]:
        return [
            cls(f"{name}({key})", ResourceSpec(cls.kind, name, key, options.lexicons[key]))
            for key in chosen(argument, "lexicon", options.lexicons)
        ]

    def values(self, tokens: Tokens, resource: Any, own_flags: Ints2d | None) -> Keys1d:
        found: Keys1d = resource.values(tokens, own_flags)
        return found

    def describe(self, value: int, text_of: TextOf, resource: Any) -> str:
        return str(resource.lexicon.value_names[value])


class ExactMembership(Membership):
    """`lexicon_exact(NAME)`: the same, where upper and lower case count."""

    reads = ()
    kind = ExactlyListedTerms


class AbbreviationPart(TokenAttribute):
    """The token's part in the explanation of an abbreviation, or that it is one (`long_forms`)."""

    reads = (ABBREVIATIONS,)

    def values(self, tokens: Tokens, resource: Any, own_flags: Ints2d | None) -> Keys1d:
        return abbreviation_parts(tokens.abbreviation_of, tokens.abbreviations)

    def describe(self, value: int, text_of: TextOf, resource: Any) -> str:
        return PARTS[value]


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


class OfLongForm(AroundSpan):
    """`type_of_long_form`, one more method of `SpanContext`, which needs abbreviations."""

    reads = ("lower", ABBREVIATIONS)
