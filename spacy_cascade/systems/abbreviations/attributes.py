"""Attributes of tokens and spans that abbreviations of their Doc give, and their resource."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar
from weakref import ref

import numpy as np

from ...features.attributes import (
    Attribute,
    ContextAttribute,
    Linking,
    LinkingAttribute,
    Options,
    TextOf,
)
from ...features.links import Links
from ...features.resources import ResourceSpec
from ...features.span_context import SpanContext, value_text
from ...features.tokens import Tokens
from ...numeric.arrays import Array, Arrays, Shapes
from ...types import Ints2d, Keys1d
from .search import PARTS, Abbreviations, abbreviation_parts, find_abbreviations, linked_tokens

_NOTHING = np.zeros((0, 2), dtype=np.int64)
NONE = Abbreviations(_NOTHING, _NOTHING, np.zeros(0, dtype=np.uint64))


class Explained(Linking):
    """The resource: abbreviations that Docs explain. It is not learnt and has no arrays."""

    _searched: ClassVar[tuple[tuple[Array, ...], Abbreviations, Links] | None] = None
    """Words and bounds of the last batch, for all components, and what was found in it."""

    def __init__(self) -> None:
        self._latest: tuple[ref[Tokens], Abbreviations, Links] | None = None

    def __reduce__(self) -> tuple[type[Explained], tuple[()]]:
        return Explained, ()

    @classmethod
    def empty(cls) -> Explained:
        return cls()

    def arrays(self) -> Arrays:
        return {}

    @classmethod
    def shapes(cls, arrays: Mapping[str, Array], settings: Any) -> Shapes:
        return {}

    @classmethod
    def restore(cls, arrays: Mapping[str, Array], settings: Any) -> Explained:
        return cls()

    def of(self, tokens: Tokens) -> tuple[Abbreviations, Links]:
        """What a batch explains, and which tokens are abbreviations; one search for each batch.

        Nothing where the texts of words are unknown. Components read a batch one after the other,
        each as `Tokens` of its own.
        """
        latest = self._latest
        if latest is None or latest[0]() is not tokens:
            latest = self._latest = ref(tokens), *self._search(tokens)
        return latest[1:]

    @classmethod
    def _search(cls, tokens: Tokens) -> tuple[Abbreviations, Links]:
        if tokens.text_of is None:
            return NONE, Links(linked_tokens(tokens, NONE), *NONE.long.T)
        searched, batch = cls._searched, (tokens.words, tokens.sequence_starts, tokens.doc_starts)
        if searched is None or not all(map(np.array_equal, searched[0], batch)):
            found = find_abbreviations(tokens, tokens.text_of)
            searched = batch, found, Links(linked_tokens(tokens, found), *found.long.T)
            cls._searched = searched
        return searched[1:]

    def links(self, tokens: Tokens) -> Links:
        """From each abbreviation to its long form."""
        return self.of(tokens)[1]


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
