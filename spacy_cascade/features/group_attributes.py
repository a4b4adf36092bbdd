"""Attributes of the token that look at a span group."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from ..errors import TemplateError
from ..types import Ints2d, Keys1d
from .attributes import Attribute, Options, TokenAttribute
from .tokens import Tokens

Made = TypeVar("Made", bound="GroupAttribute")


class GroupAttribute(TokenAttribute):
    """`NAME(KEY)`: something that the spans of `doc.spans[KEY]` say of the token."""

    def __init__(self, name: str, key: str) -> None:
        super().__init__(f"{name}({key})")
        self.span_groups = (key,)

    @property
    def key(self) -> str:
        """Key of the span group."""
        return self.span_groups[0]

    @classmethod
    def expand(
        cls: type[Made], name: str, argument: str | None, options: Options
    ) -> Iterable[Attribute]:
        if not argument:
            raise TemplateError(f"'{name}' needs the key of a span group, as in '{name}(chunks)'.")
        return [cls(name, argument)]


class SpanTag(GroupAttribute):
    """`span(KEY)`: the IOB2 tag that the spans of `doc.spans[KEY]` give the token."""

    def values(self, tokens: Tokens, resource: Any, own_flags: Ints2d | None) -> Keys1d:
        return tokens.groups[self.key].tags
