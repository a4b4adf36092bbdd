"""What templates of levels look at: the words at the edges of the spans found so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ...errors import TemplateError
from ...features.attributes import Attribute, Options, TextOf
from ...features.group_attributes import GroupAttribute
from ...features.group_spans import OUTSIDE, GroupSpans
from ...features.strings import hash_string
from ...features.tokens import Tokens
from ...types import Ints2d, Keys1d, Pointers1d

_EDGE = np.uint64(hash_string("\ue000edge"))
"""Stands before the first word of a sequence, and after the last one."""

_Place: TypeAlias = Callable[[Pointers1d, Pointers1d], Pointers1d]

PLACES: Mapping[str, _Place] = {
    "before": lambda start, end: start - 1,
    "first": lambda start, end: start,
    "last": lambda start, end: end - 1,
    "after": lambda start, end: end,
}
"""Tokens at the edges of spans, by their bounds."""


_SHIFT = 56
"""The code of what is inside a span stands in the upper bits of its value."""
_INSIDE = {0: "", 1: ", around one level", 3: ", around two levels or more"}
"""Codes: a bit for each level inside, as far as they are told apart."""


class NestedSpan(GroupAttribute):
    """`nested_span(KEY)`: as `span(KEY)`, and how many levels of spans are inside of that span.

    Two levels, or more, are the same.
    """

    def values(self, tokens: Tokens, resource: Any, own_flags: Ints2d | None) -> Keys1d:
        group = tokens.groups[self.key]
        outermost = group.disjoint
        values: Keys1d = group.tags.copy()
        for code in (1, 2):
            group = replace(group, spans=_without(group.spans, group.disjoint))
            if not len(group.spans.start):
                break
            holding = np.searchsorted(outermost.start, group.spans.start, side="right") - 1
            around = outermost.take(np.unique(holding))
            values[around.tokens()] ^= np.uint64(code << _SHIFT)
        return values

    def describe(self, value: int, text_of: TextOf, resource: Any) -> str:
        found = ((text_of(value ^ code << _SHIFT), inside) for code, inside in _INSIDE.items())
        # An unknown hash is shown with a mark.
        known = (text + inside for text, inside in found if not text.startswith("#"))
        return next(known, text_of(value))


def _without(spans: GroupSpans, outermost: GroupSpans) -> GroupSpans:
    """The spans that are not among the outermost ones."""
    place = np.searchsorted(outermost.start, spans.start, side="right") - 1
    is_outermost = (outermost.start[place] == spans.start) & (outermost.end[place] == spans.end)
    return spans.take(np.flatnonzero(~is_outermost))


class SpanWord(GroupAttribute):
    """`span_word(KEY, PLACE)`: a word at an edge of the span of `doc.spans[KEY]` over the token.

    PLACE: `before`, `first`, `last` or `after`. Upper and lower case do not count. Where spans
    overlap, the longest counts; `O` stands for tokens in no span.
    """

    reads: ClassVar[tuple[str, ...]] = ("lower",)

    def __init__(self, name: str, key: str, place: str) -> None:
        super().__init__(name, key)
        self.name, self.place = f"{name}({key}, {place})", place

    @classmethod
    def expand(cls, name: str, argument: str | None, options: Options) -> Iterable[Attribute]:
        key, _, place = (argument or "").rpartition(",")
        if not key.strip() or place.strip() not in PLACES:
            raise TemplateError(
                f"'{name}' needs the key of a span group and one of {', '.join(PLACES)}, as in "
                f"'{name}(cascade, last)'."
            )
        return [cls(name, key.strip(), place.strip())]

    def values(self, tokens: Tokens, resource: Any, own_flags: Ints2d | None) -> Keys1d:
        spans, starts = tokens.groups[self.key].disjoint, tokens.sequence_starts
        values = np.full(len(tokens.words), OUTSIDE)
        sequence = np.searchsorted(starts, spans.start, side="right") - 1
        token = PLACES[self.place](spans.start, spans.end)
        is_there = (token >= starts[sequence]) & (token < starts[sequence + 1])
        words = np.where(is_there, np.append(tokens.lower, _EDGE)[token], _EDGE)
        values[spans.tokens()] = np.repeat(words, spans.end - spans.start)
        return values
