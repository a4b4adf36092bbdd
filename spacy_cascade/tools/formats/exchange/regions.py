"""Regions of Label Studio: where they stand in a text, on a page of HTML, or in a dialogue.

A region counts characters or UTF-16 code units, from the start of the text, of a node or of a turn.
Its own text, which most exports have, tells which. The text of a page is that of a browser, and
paths lead to its nodes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

from ..texts import Fail, are_inside, checked_text, is_offset
from .offsets import Piece, Pieces, Ruler, Unit, units_of

Region = Mapping[str, Any]
Ends = tuple[Any, Any]
"""First character and end (exclusive); what is no number is what the region has in its place."""
_TURN_TEXTS = ("text", "content", "message", "utterance")
"""Usual names of the text of a turn in a dialogue: they come before others, the longest first."""
_HIDDEN = {"head", "script", "style", "template", "title", "noscript", "iframe"}
_INLINE = {
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "img", "ins", "kbd", "label", "mark", "q", "rp", "rt", "ruby", "s", "samp",
    "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
}  # fmt: skip
"""Elements that do not begin a line of their own."""
_STEP = re.compile(r"([^\[\]]+)(?:\[(\d{1,9})\])?")


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
        return are_inside(self.text, [ends]) and wanted == "".join(self.text[slice(*ends)].split())


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
        number = int(number) if isinstance(number, str) and is_offset(number) else number
        if type(number) is not int or type(offset) is not int or not 0 <= number < len(lines):
            return None
        return pieces.character_in(number, offset)

    return Reading(pieces.text, lambda region: _both_ends(region, place))


def _both_ends(region: Region, place: Callable[[Any, Any], int | None]) -> Ends | None:
    """The ends of a region that says from where on it counts."""
    start = place(region.get("start"), region.get("startOffset"))
    end = place(region.get("end"), region.get("endOffset"))
    return None if start is None or end is None else (start, end)


class Node(NamedTuple):
    """A text node, or a line break, which has one character.

    before: a line break where a block begins and the source has no white space.
    """

    text: str
    is_shown: bool
    before: str


@dataclass(slots=True)
class Page:
    """The nodes in order. paths: each step from an element, by its name and number, to the next."""

    nodes: list[Node] = field(default_factory=list)
    paths: dict[tuple[int, str, int], int] = field(default_factory=dict)
    first_in: dict[int, int] = field(default_factory=dict)
    """The first node in each element; a node is in itself."""

    def node_at(self, path: str) -> int | None:
        """The node at an XPath from the root of the page; of an element, the first in it.

        Browsers give a table a body that its source need not have: such a step is left out.
        """
        at = 0
        for step in path.strip("/").split("/"):
            found = _STEP.fullmatch(step)
            if found is None:
                return None
            following = self.paths.get((at, found[1].lower(), int(found[2] or 1)))
            if following is None and found[1].lower() != "tbody":
                return None
            at = at if following is None else following
        return self.first_in.get(at)


def page_of(html: str, etree: Any) -> Page:
    """A page, or a piece of one. etree: the module of lxml."""
    html = html.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    is_whole = "<body" in html.lower()
    source = html if is_whole else f"<html><body><div>{html}</div></body></html>"
    root = etree.fromstring(source.encode(), etree.HTMLParser(encoding="utf-8", huge_tree=True))
    body = root.find("body")
    reader = _Reader()
    top = root if body is None else body if is_whole else body[0]
    reader.start(top)
    # Without `iterwalk`, whose time is quadratic in the number of comments.
    walk = [(top, iter(top))]
    while walk:
        element, children = walk[-1]
        child = next(children, None)
        if child is None:
            reader.end(element)
            walk.pop()
        elif isinstance(child.tag, str):
            reader.start(child)
            walk.append((child, iter(child)))
        else:  # a comment or a processing instruction
            reader.text(child.tail)
    return reader.page


@dataclass(slots=True)
class _Element:
    number: int
    is_shown: bool
    children: Counter[str] = field(default_factory=Counter)


class _Reader:
    """Makes a page of the elements that it meets; the first one is the root."""

    def __init__(self) -> None:
        self.page = Page()
        self._open: list[_Element] = []
        self._is_new_block = False
        self._last = ""

    def start(self, element: Any) -> None:
        name = element.tag
        is_shown = name not in _HIDDEN and all(one.is_shown for one in self._open[-1:])
        number = self._step(name) if self._open else 0
        self._open.append(_Element(number, is_shown))
        self._is_new_block |= name not in _INLINE
        if name == "br":
            self._add("\n")
        # A browser leaves out the line break at the start of preformatted text.
        self.text((element.text or "").removeprefix("\n") if name == "pre" else element.text)

    def end(self, element: Any) -> None:
        self._open.pop()
        self._is_new_block |= element.tag not in _INLINE
        if self._open:
            self.text(element.tail)

    def text(self, text: str | None) -> None:
        if text:
            self.page.first_in[self._step("text()")] = len(self.page.nodes)
            self._add(text)

    def _step(self, name: str) -> int:
        """The number of another child of the element that is open."""
        inside = self._open[-1]
        inside.children[name] += 1
        number = len(self.page.paths) + 1
        self.page.paths[inside.number, name, inside.children[name]] = number
        return number

    def _add(self, text: str) -> None:
        for element in reversed(self._open):
            if element.number in self.page.first_in:
                break
            self.page.first_in[element.number] = len(self.page.nodes)
        is_shown, before = self._open[-1].is_shown, ""
        if is_shown:
            touches = bool(self._last.strip() and text[0].strip())
            before = "\n" if self._is_new_block and touches else ""
            self._is_new_block, self._last = False, text[-1]
        self.page.nodes.append(Node(text, is_shown, before))


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
