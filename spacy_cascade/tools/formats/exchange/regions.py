"""Regions of Label Studio: where they stand in a text, on a page of HTML, or in a dialogue.

A region counts characters or UTF-16 code units, from the start of the text, of a node or of a turn.
Its own text, which most exports have, tells which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from ..texts import Fail, checked_text
from .page import Page
from .pieces import Piece, Pieces, Ruler, Unit, units_of

Region = Mapping[str, Any]
Ends = tuple[Any, Any]
"""First character and end (exclusive); what is no number is what the region has in its place."""
_TURN_TEXTS = ("text", "content", "message", "utterance")
"""Usual names of the text of a turn in a dialogue: they come before others, the longest first."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A text, and a way to find regions in it: None for a region that says nothing of its place."""

    text: str
    locate: Callable[[Region], Ends | None]

    def fits(self, region: Region) -> bool:
        """Whether the text of a region is the one at its place, but for white space."""
        wanted, ends = "".join(own_text(region).split()), self.locate(region)
        if not wanted or ends is None or not all(type(end) is int for end in ends):
            return False
        start, end = ends
        is_inside = 0 <= start <= end <= len(self.text)
        return is_inside and wanted == "".join(self.text[start:end].split())


def own_text(region: Region) -> str:
    """The text that a region itself has, "" if it has none."""
    found = region.get("text")
    return found if isinstance(found, str) else ""


def best_reading(readings: Sequence[Reading], regions: Sequence[Region]) -> Reading:
    """The reading in which most regions fit, the first of these.

    A region that does not fit in it is where it fits in another reading of the same text.
    """
    best = max(readings, key=lambda reading: sum(map(reading.fits, regions)))
    same = [best, *(reading for reading in readings if reading.text == best.text)]

    def locate(region: Region) -> Ends | None:
        return next((one for one in same if one.fits(region)), best).locate(region)

    return Reading(best.text, locate)


def of_text(text: str) -> list[Reading]:
    """Readings of a text as it is."""

    def reading(unit: Unit) -> Reading:
        ruler = Ruler(text, unit)

        def locate(region: Region) -> Ends:
            start, end = (_character(ruler, region.get(name)) for name in ("start", "end"))
            return start, end

        return Reading(text, locate)

    return [reading(unit) for unit in _units(text)]


def _units(text: str) -> list[Unit]:
    return [unit for unit in units_of(text) if unit is not Unit.BYTES]


def _character(ruler: Ruler, offset: Any) -> Any:
    return ruler.character(offset) if type(offset) is int else offset


def of_dialogue(turns: Sequence[Mapping[str, Any]], fail: Fail) -> list[Reading]:
    """Readings of paragraphs or a chat, as a text with a line for each turn.

    Raises `CorpusError` where turns have no text under the same name.
    """
    names = [n for n in turns[0] if all(isinstance(turn.get(n), str) for turn in turns)]
    if not names:
        fail("the turns of the dialogue have no text", "Give each turn its text under 'text'")
    names.sort(key=lambda name: (name not in _TURN_TEXTS, -sum(len(turn[name]) for turn in turns)))
    return [
        _of_lines([checked_text(turn[name], fail) for turn in turns], unit)
        for name in names
        for unit in _units("".join(turn[name] for turn in turns))
    ]


def _of_lines(lines: Sequence[str], unit: Unit) -> Reading:
    pieces = Pieces(
        [Piece(Ruler(line, unit), 0, "\n" if number else "") for number, line in enumerate(lines)]
    )

    def place(number: Any, offset: Any) -> int | None:
        number = int(number) if isinstance(number, str) and number.isdecimal() else number
        if type(number) is not int or type(offset) is not int or not 0 <= number < len(lines):
            return None
        return pieces.character_in(number, offset)

    return Reading(pieces.text, lambda region: _both_ends(region, place))


def _both_ends(region: Region, place: Callable[[Any, Any], int | None]) -> Ends | None:
    """The ends of a region that says from where on it counts."""
    start = place(region.get("start"), region.get("startOffset"))
    end = place(region.get("end"), region.get("endOffset"))
    return None if start is None or end is None else (start, end)


def of_page(page: Page) -> list[Reading]:
    """Readings of a page, as a text in which blocks are on lines of their own."""
    units = _units("".join(node.text for node in page.nodes))
    return [
        reading
        for unit, counts_hidden in product(units, (False, True))
        for reading in _of_nodes(page, unit, counts_hidden)
    ]


def _of_nodes(page: Page, unit: Unit, counts_hidden: bool) -> Iterator[Reading]:
    """By the global offsets of regions, and by the paths of their ends.

    counts_hidden: whether global offsets count what is not shown, such as styles.
    """
    pieces, numbers, offset = list[Piece](), dict[int, int](), 0
    for i, node in enumerate(page.nodes):
        ruler = Ruler(node.text, unit)
        if node.is_shown:
            numbers[i] = len(pieces)
            pieces.append(Piece(ruler, offset, node.before))
        offset += ruler.size if node.is_shown or counts_hidden else 0
    whole = Pieces(pieces)

    def by_offsets(region: Region) -> Ends | None:
        offsets = region.get("globalOffsets")
        offsets = offsets if isinstance(offsets, Mapping) else region
        start, end = offsets.get("start"), offsets.get("end")
        if type(start) is not int or type(end) is not int:
            return None
        return whole.character(start), whole.character(end, is_end=True)

    def place(path: Any, at: Any) -> int | None:
        node = page.node_at(path) if isinstance(path, str) else None
        if node not in numbers or type(at) is not int:
            return None
        return whole.character_in(numbers[node], at)

    def by_paths(region: Region) -> Ends | None:
        return _both_ends(region, place)

    yield Reading(whole.text, lambda region: by_offsets(region) or by_paths(region))
    yield Reading(whole.text, lambda region: by_paths(region) or by_offsets(region))
