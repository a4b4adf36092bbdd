"""HTML pages as short texts with the formatting that they share with others on their page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ....extras import library

MOST_CHARACTERS = 80
"""A longer text is no term."""
PATTERN = "pattern"
"""What the names of groups begin with that are neither a list nor a column."""
_TERMS = frozenset(
    (
        "a", "abbr", "b", "caption", "cite", "code", "dd", "dfn", "div", "dt", "em", "figcaption",
        "h1", "h2", "h3", "h4", "h5", "h6", "i", "label", "li", "mark", "option", "p", "s", "small",
        "span", "strong", "summary", "td", "th", "u",
    )
)  # fmt: skip
_LISTS = frozenset(("ul", "ol", "dl", "select", "datalist", "menu"))
_CELLS = frozenset(("td", "th"))
_UNSEEN = ("script", "style", "template", "noscript", "svg", "math")
_LEVELS = 3
"""Elements around a text that its pattern has."""
_SPACE = re.compile(r"\s+")
_MARKS = re.compile(r"(\s*\[[^\]]{0,4}\])+$")
"""Marks of footnotes at the end of a text."""
_EDGES = " \t,;:!·•|–—-*†‡\u200b"


class Item(NamedTuple):
    """A text of an element. formatting: each group of texts on the page that it belongs to.

    A group is a list, a column of a table, or a pattern of elements and their classes, together
    with the elements between it and the text.
    """

    text: str
    formatting: tuple[str, ...]


def read_items(content: bytes) -> list[Item]:
    """The short texts of a page, whatever is wrong with its HTML.

    Elements that are nested more than some 250 deep are left out. Raises `ConfigError` without
    lxml.
    """
    root = _parse(content)
    return [] if root is None else list(_items(root))


def _parse(content: bytes) -> Any:
    etree = library("lxml.etree", "web", "Reading web pages")
    # `huge_tree` stays off: it is what bounds the depth.
    parser = etree.HTMLParser(recover=True, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(content.replace(b"\0", b" "), parser)
    except etree.XMLSyntaxError:  # nothing is left of it
        return None
    if root is not None:
        etree.strip_elements(root, *_UNSEEN, with_tail=False)
    return root


def _items(root: Any) -> Iterator[Item]:
    numbers: dict[Any, int] = {}
    for element in root.iter(*_TERMS):
        text = _short_text(element)
        if text:
            yield Item(text, tuple(_formatting(element, numbers)))


def _short_text(element: Any) -> str:
    """The text of an element as a reader sees it, "" where it is too long or there is none."""
    found, length = [], 0
    for part in element.itertext():
        found.append(part)
        length += len(part.strip())
        if length > MOST_CHARACTERS:
            return ""
    text = _SPACE.sub(" ", "".join(found)).strip()
    text = _MARKS.sub("", text).strip(_EDGES)
    return text if len(text) <= MOST_CHARACTERS and any(map(str.isalpha, text)) else ""


def _formatting(element: Any, numbers: dict[Any, int]) -> Iterator[str]:
    """The groups of a text. numbers: of lists and tables, by which they are told apart."""
    path, pattern = [element.tag], [_described(element)]
    has_list = has_column = False
    for above in element.iterancestors():
        if above.tag in _LISTS and not has_list:
            has_list = True
            number = numbers.setdefault(above, len(numbers))
            yield f"list {number}: {' < '.join(path)}"
        if above.tag == "table" and not has_column and _CELLS.intersection(path):
            has_column = True
            inside = path[: 1 + next(i for i, tag in enumerate(path) if tag in _CELLS)]
            number = numbers.setdefault(above, len(numbers))
            column = _column(element, len(inside) - 1)
            yield f"column {column} of table {number}: {' < '.join(inside)}"
        path.append(above.tag)
        if len(pattern) <= _LEVELS:
            pattern.append(_described(above))
    yield f"{PATTERN} {' < '.join(pattern)}"


def _column(element: Any, levels: int) -> int:
    """The number, from 1, of the cell that is so many levels above an element."""
    cell = element
    for _ in range(levels):
        cell = cell.getparent()
    return 1 + sum(1 for _ in cell.itersiblings(*_CELLS, preceding=True))


def _described(element: Any) -> str:
    """An element with its classes, without the digits that number them."""
    classes = sorted({re.sub(r"\d+", "", word) for word in (element.get("class") or "").split()})
    return ".".join([str(element.tag), *filter(None, classes)])
