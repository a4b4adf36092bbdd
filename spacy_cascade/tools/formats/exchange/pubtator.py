"""PubTator: `ID|t|title`, `ID|a|abstract`, and a line with tabs for each annotation.

Format: https://www.ncbi.nlm.nih.gov/research/pubtator3/tutorial. Offsets count through title and
abstract, with one character between them. The mention on a line may be a normal form of what is
there. Read here and not by the library `bioc`, which strips lines (and so shifts offsets) and
prints what it cannot read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, NamedTuple

from ....files import replace_file
from ..bad_records import OnBad, each, each_counted
from ..texts import (
    AnnotatedText,
    Fail,
    LeftOut,
    Mention,
    Pair,
    Record,
    checked_mention,
    checked_text,
    is_offset,
)
from .base import FormatOptions, TextFormat, one_line
from .offsets import Ruler, Unit, units_of
from .source import Source

_TEXT_LINE = re.compile(r"([^|\t]*)\|([ta])\|(.*)", re.DOTALL)
_FIRST_LINE = re.compile(r"\s*[^|\s]+\|[ta]\|")
_ANNOTATION_FIELDS = 5
"""Identifier of the document, start, end, text and type; the identifier of a concept may follow."""
_RELATION_FIELDS = (4, 5)
_BREAK = "\n"
_NORMAL_FORMS = "mentions that are normal forms of the text"


class PubTator(TextFormat):
    """Titles and abstracts with a line for each annotation."""

    name: ClassVar[str] = "pubtator"
    suffixes: ClassVar[tuple[str, ...]] = (".pubtator", ".txt")

    def recognises(self, source: Source) -> bool:
        return _FIRST_LINE.match(source.start) is not None

    def read(self, source: Source, options: FormatOptions) -> Iterator[Record]:
        records = partial(_records, source, on_bad=options.on_bad)
        return each(source.blocks(), records, options.on_bad)

    def written_label(self, label: str) -> str:
        return one_line(label)

    def write(self, texts: Sequence[AnnotatedText], path: Path) -> None:
        made = [_block(text, str(number)) for number, text in enumerate(texts, start=1)]
        replace_file(path, "\n".join(made).encode())


class _Line(NamedTuple):
    """An annotation as its line has it; fail: raises an error that names the line."""

    start: int
    end: int
    found: str
    label: str
    fail: Fail

    def pair(self, ruler: Ruler) -> Pair:
        return ruler.character(self.start), ruler.character(self.end)

    def fits(self, ruler: Ruler) -> bool:
        """Whether the mention is the text at the offsets."""
        return self.found.split() == ruler.text[slice(*self.pair(ruler))].split()

    def cuts(self, ruler: Ruler) -> bool:
        """Whether the offsets begin or end inside of a word, or have no words."""
        text, (start, end) = ruler.text, self.pair(ruler)
        inside = text[start:end].strip()
        start = text.find(inside, start)
        end = start + len(inside)
        return not inside or any(
            text[max(0, at - 1) : at].isalnum() and text[at : at + 1].isalnum()
            for at in (start, end)
        )


def _records(source: Source, block: Sequence[tuple[int, str]], on_bad: OnBad) -> Iterator[Record]:
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
    lines, n_bad = each_counted(rest, partial(_lines, source, name), on_bad)
    yield from [LeftOut("relations")] * (len(rest) - len(lines) - n_bad)
    mention, reading = _best_reading(text, lines)
    mentions, n_unfit = each_counted(lines, lambda line: [mention(line)], on_bad)
    yield AnnotatedText(
        text, mentions, name, f"{source.path}:{number}", bad_spans=n_bad + n_unfit, reading=reading
    )


def _lines(source: Source, name: str, numbered: tuple[int, str]) -> Iterator[_Line]:
    """The annotation on a line; none for a relation."""
    line, row = numbered
    fields = row.split("\t")
    fail: Fail = partial(source.fail, line)
    if fields[0].strip() != name:
        fail(f"a line of document {name!r} was expected", "Put an empty line between")
    offsets = [field.strip() for field in fields[1:3]]
    numbers = [int(offset) for offset in offsets if is_offset(offset)]
    if not numbers and len(fields) in _RELATION_FIELDS:
        return
    if len(fields) < _ANNOTATION_FIELDS:
        advice = "A line has the ID, start, end, text and type, with tabs between them"
        fail(f"there are {len(fields)} fields", advice)
    if len(numbers) != len(offsets):
        fail(f"the offsets {offsets} are not whole numbers", "Correct them")
    yield _Line(numbers[0], numbers[1], fields[3], fields[4].strip(), fail)


def _best_reading(text: str, lines: Sequence[_Line]) -> tuple[Callable[[_Line], Mention], str]:
    """What makes the spans of a document, and how their offsets are understood.

    Offsets count, whatever the mention is, unless most of those whose mention is not the text there
    cut words: then these are wrong, and the mention of a span shows it.
    """
    rulers = [(unit, Ruler(text, unit)) for unit in units_of(text)]
    unit, ruler = max(rulers, key=lambda one: sum(line.fits(one[1]) for line in lines))
    others = [line for line in lines if not line.fits(ruler)]
    n_cut = sum(line.cuts(ruler) for line in others)
    are_wrong = 2 * n_cut > len(others)

    def mention(line: _Line) -> Mention:
        is_right = line.fits(ruler) or not (are_wrong or line.cuts(ruler))
        found = "" if is_right else line.found
        return checked_mention(text, *line.pair(ruler), line.label, line.fail, found)

    names = [f"offsets that count {unit.value}"] if unit is not Unit.CHARACTERS else []
    names += [_NORMAL_FORMS] if not are_wrong and n_cut < len(others) else []
    return mention, ", ".join(names)


def _block(text: AnnotatedText, number: str) -> str:
    """A document; further line breaks become spaces, which keeps the offsets."""
    name = re.sub(r"[|\s]+", "_", text.name) or number
    title, _, abstract = text.text.partition(_BREAK)
    lines = [f"{name}|t|{one_line(title)}", f"{name}|a|{one_line(abstract)}"]
    for mention in text.mentions:
        found, label = one_line(text.text[mention.start : mention.end]), one_line(mention.label)
        lines.append(f"{name}\t{mention.start}\t{mention.end}\t{found}\t{label}\t")
    return "\n".join([*lines, ""])
