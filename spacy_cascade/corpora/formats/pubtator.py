"""PubTator: `ID|t|title`, `ID|a|abstract`, and a line with tabs for each annotation.

Format: https://www.ncbi.nlm.nih.gov/research/pubtator3/tutorial. Offsets count through title and
abstract, with one character between them. Read here and not by the library `bioc`, which strips
lines (and so shifts offsets) and prints what it cannot read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from ...files import replace_file
from ..bad_records import OnBad, each, each_counted
from ..texts import AnnotatedText, Mention, Record, checked_mention, checked_text
from .base import FormatOptions, TextFormat
from .source import Source

_TEXT_LINE = re.compile(r"([^|\t]*)\|([ta])\|(.*)", re.DOTALL)
_FIRST_LINE = re.compile(r"\s*[^|\s]+\|[ta]\|")
_ANNOTATION_FIELDS = 5
"""Identifier of the document, start, end, text and type; the identifier of a concept may follow."""
_BREAK = "\n"


class PubTator(TextFormat):
    name: ClassVar[str] = "pubtator"
    suffixes: ClassVar[tuple[str, ...]] = (".pubtator", ".txt")

    def recognises(self, source: Source) -> bool:
        return _FIRST_LINE.match(source.start) is not None

    def read(self, source: Source, options: FormatOptions) -> Iterator[Record]:
        return each(_blocks(source), partial(_texts, source, on_bad=options.on_bad), options.on_bad)

    def write(self, texts: Sequence[AnnotatedText], path: Path) -> None:
        made = [_block(text, str(number)) for number, text in enumerate(texts, start=1)]
        replace_file(path, "\n".join(made).encode())


def _blocks(source: Source) -> Iterator[list[tuple[int, str]]]:
    """The lines of each document with their numbers."""
    block: list[tuple[int, str]] = []
    for number, line in enumerate([*source.lines, ""], start=1):
        if line.strip():
            block.append((number, line))
        elif block:
            yield block
            block = []


def _texts(
    source: Source, block: Sequence[tuple[int, str]], on_bad: OnBad
) -> Iterator[AnnotatedText]:
    parts, rest = [], list(block)
    while rest and (found := _TEXT_LINE.fullmatch(rest[0][1])):
        parts.append(found)
        rest.pop(0)
    number, _ = block[0]
    if [part[2] for part in parts] not in (["t"], ["t", "a"]):
        advice = "A document begins with ID|t|TITLE and ID|a|ABSTRACT, and ends with an empty line"
        source.fail(number, "there is no title, or more than one text", advice)
    name = parts[0][1].strip()
    # Nothing follows a title whose abstract is empty.
    whole = _BREAK.join(part[3] for part in parts).removesuffix(_BREAK)
    text = checked_text(whole, partial(source.fail, number))
    mentions, n_bad = each_counted(rest, partial(_mentions, source, text, name), on_bad)
    yield AnnotatedText(text, mentions, name, f"{source.path}:{number}", bad_spans=n_bad)


def _mentions(source: Source, text: str, name: str, numbered: tuple[int, str]) -> Iterator[Mention]:
    """The annotation on a line; none for a relation."""
    line, row = numbered
    fields = row.split("\t")
    if fields[0].strip() != name:
        source.fail(line, f"a line of document {name!r} was expected", "Put an empty line between")
    if len(fields) < _ANNOTATION_FIELDS or not fields[1].strip().isdigit():
        if len(fields) in (4, 5):
            return
        advice = "A line has the ID, start, end, text and type, with tabs between them"
        source.fail(line, f"there are {len(fields)} fields", advice)
    _, start, end, found, label = fields[:_ANNOTATION_FIELDS]
    if not end.strip().isdigit():
        source.fail(line, f"the end {end!r} is no number", "Correct it")
    yield checked_mention(
        text, int(start), int(end), label.strip(), partial(source.fail, line), found
    )


def _block(text: AnnotatedText, number: str) -> str:
    """A document; further line breaks become spaces, which keeps the offsets."""
    name = re.sub(r"[|\s]+", "_", text.name) or number
    title, _, abstract = text.text.partition(_BREAK)
    lines = [f"{name}|t|{_one_line(title)}", f"{name}|a|{_one_line(abstract)}"]
    for mention in text.mentions:
        found, label = _one_line(text.text[mention.start : mention.end]), _one_line(mention.label)
        lines.append(f"{name}\t{mention.start}\t{mention.end}\t{found}\t{label}\t")
    return "\n".join([*lines, ""])


def _one_line(text: str) -> str:
    return re.sub(r"[\n\r\t]", " ", text)
