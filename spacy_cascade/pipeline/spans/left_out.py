"""Spans of an annotation that are not learnt, each with its place and the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

CUTS, OVERLAPS, PARTS = "that cut a token", "overlapping another span", "of several parts"


class LeftOutSpan(NamedTuple):
    """A span that is not learnt.

    document: its number, from 1, or what it is called. start, end: its characters, the end
    exclusive; lists where it has several parts, None where it could not be read. reason: as in
    `that cut a token`.
    """

    document: str | int
    start: int | list[int] | None
    end: int | list[int] | None
    text: str
    label: str
    reason: str

    @property
    def parts(self) -> list[tuple[int, int]]:
        """First characters and ends of its parts."""
        return parts_of(self.start, self.end)


def parts_of(start: Any, end: Any) -> list[tuple[int, int]]:
    """First characters and ends, from two numbers, or from their lists."""
    if start is None:
        return []
    return [(start, end)] if isinstance(start, int) else list(zip(start, end, strict=True))


def left_out_span(
    document: str | int, text: str, parts: Sequence[tuple[int, int]], label: str, reason: str
) -> LeftOutSpan:
    """The span with these parts of a text."""
    own = " ".join(text[start:end] for start, end in parts)
    if len(parts) == 1:
        return LeftOutSpan(document, *parts[0], own, label, reason)
    starts, ends = map(list, zip(*parts, strict=True))
    return LeftOutSpan(document, starts, ends, own, label, reason)
