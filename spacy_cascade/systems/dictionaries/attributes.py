"""Attributes of the token that term lists give: `lexicon(NAME)` and `lexicon_exact(NAME)`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from ...features.attributes import Attribute, Options, TextOf, TokenAttribute, chosen
from ...features.resources import ResourceSpec
from ...features.tokens import Tokens
from ...types import Ints2d, Keys1d
from .listed_terms import ExactlyListedTerms, ListedTerms
from .terms import list_from


class Membership(TokenAttribute):
    """`lexicon(NAME)`: whether the token begins a listed term or stands inside one."""

    reads: ClassVar[tuple[str, ...]] = ("lower",)
    kind: ClassVar[type[ListedTerms]] = ListedTerms

    @classmethod
    def expand(cls, name: str, argument: str | None, options: Options) -> Iterable[Attribute]:
        return [
            cls(
                f"{name}({key})",
                ResourceSpec(cls.kind, name, key, list_from(options.lexicons[key])),
            )
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
