"""Pages of the documentation: their code blocks, links and headings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from helpers import PROJECT

DOCS = PROJECT / "docs"
PAGES = [PROJECT / "README.md", *sorted(DOCS.glob("*.md"))]

_MARK = re.compile(r"<!-- (?P<name>[a-z ]+): (?P<text>.*) -->")
_LINK = re.compile(r"\]\(([^()\s]+)\)|<img [^>]*src=\"([^\"]+)\"")
_CODE = re.compile(r"`[^`]*`")


@dataclass(frozen=True)
class Block:
    """A fenced block. line: of its fence, from 1; marks: of the comment on the line before."""

    language: str
    line: int
    text: str
    marks: dict[str, str]


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order. Raises `ValueError` where one does not end."""
    lines = page.read_text(encoding="utf8").splitlines()
    found: list[Block] = []
    begin: int | None = None
    for number, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if begin is None:
            begin = number
        else:
            mark = _MARK.fullmatch(lines[begin - 1].strip()) if begin else None
            text = "\n".join(lines[begin + 1 : number]) + "\n"
            marks = {mark["name"]: mark["text"]} if mark else {}
            found.append(Block(lines[begin].removeprefix("```"), begin + 1, text, marks))
            begin = None
    if begin is not None:
        raise ValueError(f"{page.name}:{begin + 1}: the block has no end")
    return found


def prose(page: Path) -> str:
    """A page without its blocks."""
    lines = page.read_text(encoding="utf8").splitlines()
    for block in blocks(page):
        end = block.line + block.text.count("\n")
        lines[block.line - 1 : end + 1] = [""] * (end - block.line + 2)
    return "\n".join(lines)


def links(page: Path) -> list[str]:
    """Where a page leads to."""
    return [link or image for link, image in _LINK.findall(_CODE.sub("", prose(page)))]


def anchors(page: Path) -> set[str]:
    """What a link to a heading of a page can have after `#`, as code hosts make it."""
    return {
        re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        for title in re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    }
