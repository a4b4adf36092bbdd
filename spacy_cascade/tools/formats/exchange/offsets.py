"""Offsets of files as characters of a text, or of a text made of pieces.

Files count offsets in characters, in bytes or in UTF-16 code units, from the start of a document or
of a part of it; line ends may count otherwise, too. The texts of spans tell which, where the file
has them; else whether spans begin and end with words.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate, product
from typing import Any, NamedTuple

from ....pipeline.scripts import WITHOUT_SPACES
from ..texts import Pair, are_inside, same_text, text_at
from .source import Row

_FITS, _MISFITS = 0.8, 0.5
"""Another counting is taken if most spans that it moves fit then, and at most half before."""
_ENOUGH = 500
"""Spans that another counting moves: the first of them tell."""
_ONCE, _TWICE = "each line end once", "each line end twice"
_LINE_ENDS = {_ONCE: (re.compile("\r\n"), 0), _TWICE: (re.compile("(?<!\r)\n"), 2)}
"""The first characters of line ends, and their widths."""
_UNSEEN = re.compile("[\x0b\x0c\xad\u200b-\u200f\u2060\ufeff]")
"""Form feeds and characters without width, which some tools take out before they count."""
_NAMES = ("start", "end"), ("start_offset", "end_offset")
_TEXTS = ("text", "data")


class Unit(str, Enum):
    """What offsets count."""

    CHARACTERS = "characters"
    BYTES = "bytes of UTF-8"
    UTF16 = "UTF-16 code units"

    def widths(self, text: str) -> Sequence[int] | None:
        """The size of each character; None if it is 1 for all."""
        if self is Unit.BYTES and not text.isascii():
            # Texts are checked later; half of a surrogate pair has a size, too.
            return [len(character.encode("utf8", "surrogatepass")) for character in text]
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


class Span(NamedTuple):
    """Offsets as a file has them; found: the text of the span there, "" if the file has none."""

    parts: tuple[Pair, ...]
    found: str = ""

    def fits(self, text: str) -> bool:
        """Whether the text stands at the offsets."""
        if not are_inside(text, self.parts):
            return False
        if self.found:
            return same_text(text_at(text, self.parts), self.found)
        return all(_is_words(text, start, end) for start, end in self.parts)


def _is_words(text: str, start: int, end: int) -> bool:
    """Whether characters begin and end where words do."""
    found = text[start:end]
    if not found or found[0].isspace() or found[-1].isspace():
        return False
    edges = (text[max(0, start - 1) : start], found[0]), (found[-1], text[end : end + 1])
    return not any(
        before.isalnum() and after.isalnum() and not WITHOUT_SPACES.match(after)
        for before, after in edges
    )


@dataclass(frozen=True)
class Counting:
    """What offsets count.

    line_end: how `\\r\\n` or `\\n` counts, "" for its characters. has_mark: whether offsets begin
    with 1, or a byte order mark that the text lacks. has_unseen: whether form feeds and characters
    without width count.
    """

    unit: Unit = Unit.CHARACTERS
    line_end: str = ""
    has_mark: bool = False
    has_unseen: bool = True

    @property
    def name(self) -> str:
        """What it differs in from characters, "" if in nothing."""
        parts = [
            self.unit.value if self.unit is not Unit.CHARACTERS else "",
            self.line_end,
            "a byte order mark, or from 1" if self.has_mark else "",
            "" if self.has_unseen else "no form feeds and characters without width",
        ]
        found = ", ".join(filter(None, parts))
        return f"offsets that count {found}" if found else ""

    def in_characters(self, text: str) -> Callable[[tuple[Pair, ...]], tuple[Pair, ...]] | None:
        """A function from offsets to characters; it keeps offsets that are between two of them.

        None if offsets in this text are characters.
        """
        units = None if text.isascii() else self.unit.widths(text)
        pattern, width = _LINE_ENDS.get(self.line_end, (None, 0))
        changed = [(found.start(), width) for found in pattern.finditer(text)] if pattern else []
        if not self.has_unseen:
            changed += [(found.start(), 0) for found in _UNSEEN.finditer(text)]
        if units is None and not changed and not self.has_mark:
            return None
        widths = [1] * len(text) if units is None else list(units)
        for place, width in changed:
            widths[place] = width
        places = list(accumulate(widths, initial=int(self.has_mark)))
        # What has no width is in no span at its edge.
        starts = {place: i for i, place in enumerate(places)}
        ends = {place: i for i, place in reversed([*enumerate(places)])}

        def pair(start: int, end: int) -> Pair:
            if start not in starts or end not in ends:
                return start, end
            return starts[start], max(starts[start], ends[end])

        return lambda parts: tuple(pair(*part) for part in parts)


# The likely ones come first.
_OTHERS = [
    Counting(unit, line_end, has_mark, has_unseen)
    for has_mark, has_unseen, unit, line_end in product(
        (False, True), (True, False), Unit, ("", *_LINE_ENDS)
    )
][1:]


def best_counting(texts: Sequence[tuple[str, Sequence[Span]]]) -> Counting:
    """What makes clearly more spans fit their texts than characters do, if anything does."""
    fits = [[span.fits(text) for span in spans] for text, spans in texts]
    n_spans = sum(map(len, fits))
    n_misfits = n_spans - sum(map(sum, fits))
    # A mark moves all spans, so only their own texts tell.
    may_have_mark = n_misfits >= (1 - _MISFITS) * n_spans and all(
        span.found for _, spans in texts for span in spans
    )
    best, most = Counting(), 0
    for counting in _OTHERS if n_misfits else ():
        if counting.has_mark and not may_have_mark:
            continue
        n, before, after = 0, 0, 0
        for (text, spans), fitted in zip(texts, fits, strict=True):
            if n >= _ENOUGH:
                break
            in_characters = counting.in_characters(text) if spans else None
            if in_characters is None:
                continue
            for span, fit in zip(spans, fitted, strict=True):
                parts = in_characters(span.parts)
                if parts != span.parts:
                    n += 1
                    before += fit
                    after += Span(parts, span.found).fits(text)
        if after >= _FITS * n and before <= _MISFITS * n and after - before > most:
            best, most = counting, after - before
        if most == n_misfits:
            break
    return best


def likely_counting(spans: Sequence[tuple[str, Span]]) -> tuple[Counting, int]:
    """What most of the spans, each with its text, fit if offsets count it; and how many do."""

    def fit(counting: Counting) -> int:
        n = 0
        for text, span in spans:
            in_characters = counting.in_characters(text)
            n += in_characters is not None and Span(in_characters(span.parts), span.found).fits(
                text
            )
        return n

    counts = [fit(counting) for counting in _OTHERS]
    most = max(counts)
    return _OTHERS[counts.index(most)], most


class _Slot(NamedTuple):
    """A span in a JSON object: an object or a list, and the keys of its start and end there."""

    holder: Any
    start: Any
    end: Any

    @property
    def span(self) -> Span:
        found = self.holder.get("text") if isinstance(self.holder, dict) else ""
        pair = self.holder[self.start], self.holder[self.end]
        return Span((pair,), found if isinstance(found, str) else "")


def in_characters(rows: Iterable[Row]) -> tuple[list[Row], str]:
    """The objects of a file, with offsets that count characters; what they counted before.

    All objects of a file count the same. The name of the counting is "" for characters.
    """
    kept = list(rows)
    found = [(_text(row), list(_slots(row))) for row in kept]
    counting = best_counting([(text, [slot.span for slot in slots]) for text, slots in found])
    for text, slots in found if counting.name else ():
        moved = counting.in_characters(text)
        if moved is None:
            continue
        for slot in slots:
            ((start, end),) = moved(slot.span.parts)
            slot.holder[slot.start], slot.holder[slot.end] = start, end
    return kept, counting.name


def _text(row: Row) -> str:
    return next((row.value[k] for k in _TEXTS if isinstance(row.value.get(k), str)), "")


def _slots(row: Row) -> Iterator[_Slot]:
    spans = (span for value in row.value.values() if isinstance(value, list) for span in value)
    for span in spans:
        is_table = isinstance(span, dict)
        is_span = is_table or (isinstance(span, list) and len(span) == 3)
        for start, end in (_NAMES if is_table else ((0, 1),)) if is_span else ():
            given = (span.get(start), span.get(end)) if is_table else span[:2]
            if all(type(offset) is int for offset in given):
                yield _Slot(span, start, end)
