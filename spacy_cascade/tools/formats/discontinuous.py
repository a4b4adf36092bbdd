"""Spans of several parts, as `left … lung` in `left and right lung`: no entity can be one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import Enum

from .texts import AnnotatedText, Mention


class Discontinuous(str, Enum):
    """What becomes of a span of several parts.

    It is left out; one span from its first to its last character takes its place; or its parts
    are spans of a group, which know that they belong together.
    """

    DROP = "drop"
    COVERING = "covering"
    PARTS = "parts"


def number_of(mentions: Iterable[Mention]) -> int:
    """How many spans have several parts."""
    return sum(len(mention.parts) > 1 for mention in mentions)


def covering(mention: Mention) -> Mention:
    """One piece from the first to the last character of a span.

    Its own text is not kept: files have the words of its parts there, in many ways.
    """
    end = max(end for _, end in mention.parts)
    return replace(mention, parts=((mention.start, end),), found="")


def writable(text: AnnotatedText, choice: Discontinuous, *, keeps_parts: bool) -> Iterator[Mention]:
    """The spans of a text as a format can have them; others are left out.

    keeps_parts: whether it can hold spans of several parts.
    """
    for mention in text.mentions:
        if len(mention.parts) == 1:
            yield mention
        elif choice is Discontinuous.COVERING:
            yield covering(mention)
        elif keeps_parts:
            yield mention
        elif choice is Discontinuous.PARTS:
            yield from (replace(mention, parts=(part,), found="") for part in mention.parts)
