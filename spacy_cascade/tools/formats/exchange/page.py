"""The text of a page of HTML as a browser has it: its nodes, and the paths that lead to them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

_HIDDEN = {"head", "script", "style", "template", "title", "noscript", "iframe"}
_INLINE = {
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "img", "ins", "kbd", "label", "mark", "q", "rp", "rt", "ruby", "s", "samp",
    "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
}  # fmt: skip
"""Elements that do not begin a line of their own."""
_STEP = re.compile(r"([^\[\]]+)(?:\[(\d+)\])?")


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
