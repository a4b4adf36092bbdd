"""Texts made of pieces, and offsets of files as characters of them.

Files count offsets in characters, in bytes or in UTF-16 code units, from the start of a document or
of a part of it. Where a file has the text of its spans, that tells which.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from enum import Enum
from itertools import accumulate
from typing import NamedTuple


class Unit(str, Enum):
    """What offsets count."""

    CHARACTERS = "characters"
    BYTES = "bytes of UTF-8"
    UTF16 = "UTF-16 code units"

    def widths(self, text: str) -> Sequence[int] | None:
        """The size of each character; None if it is 1 for all."""
        if self is Unit.BYTES and not text.isascii():
            return [len(character.encode()) for character in text]
        if self is Unit.UTF16 and max(text, default="") > "\uffff":
            return [1 + (character > "\uffff") for character in text]
        return None


def units_of(text: str) -> list[Unit]:
    """The units in which the text has different sizes; characters come first."""
    return [unit for unit in Unit if unit is Unit.CHARACTERS or unit.widths(text) is not None]


class Ruler:
    """A text measured in a unit. size: of the whole text."""

    def __init__(self, text: str, unit: Unit) -> None:
        self.text = text
        widths = unit.widths(text)
        self._starts: Sequence[int] = (
            range(len(text) + 1) if widths is None else list(accumulate(widths, initial=0))
        )
        self.size = self._starts[-1]

    def character(self, offset: int) -> int:
        """The number of a character; also for offsets outside of the text, which are no error."""
        if offset < 0:
            return offset
        if offset > self.size:
            return len(self.text) + offset - self.size
        return bisect_left(self._starts, offset)


class Piece(NamedTuple):
    """A piece of a text. offset: of its start, as the file counts. before: what joins it."""

    ruler: Ruler
    offset: int
    before: str = ""


class Pieces:
    """Pieces one after the other. text: the whole."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = pieces
        self.text = "".join(part for piece in pieces for part in (piece.before, piece.ruler.text))
        lengths = [(len(piece.before), len(piece.ruler.text)) for piece in pieces]
        ends = accumulate(before + length for before, length in lengths)
        self._firsts = [end - length for end, (_, length) in zip(ends, lengths, strict=True)]
        self._order = sorted(range(len(pieces)), key=lambda number: pieces[number].offset)
        self._offsets = [pieces[number].offset for number in self._order]

    def character(self, offset: int, *, is_end: bool = False, within: int | None = None) -> int:
        """The character at an offset.

        is_end: an offset between two pieces is the end of the first. within: number of the piece to
        prefer where pieces overlap.
        """
        if not self._pieces:
            return offset
        if within is None or not self._holds(within, offset):
            bisect = bisect_left if is_end else bisect_right
            within = self._order[max(0, bisect(self._offsets, offset) - 1)]
        return self.character_in(within, offset - self._pieces[within].offset)

    def character_in(self, number: int, offset: int) -> int:
        """The character at an offset from the start of a piece."""
        return self._firsts[number] + self._pieces[number].ruler.character(offset)

    def _holds(self, number: int, offset: int) -> bool:
        return 0 <= offset - self._pieces[number].offset <= self._pieces[number].ruler.size
