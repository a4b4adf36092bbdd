"""BRAT: a folder with a text `NAME.txt` and its standoff annotation `NAME.ann` for each document.

Format: https://brat.nlplab.org/standoff.html. `T1<tab>TYPE 0 5;9 12<tab>text` is a span of one or
more parts; relations, events, attributes and notes are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, NamedTuple

from ....errors import CorpusError
from ....files import replace_folder
from ..bad_records import OnBad, each, each_counted
from ..encodings import decoded
from ..texts import AnnotatedText, Mention, Pair, Record, checked_label, checked_pair
from .base import FormatOptions, TextFormat
from .offsets import Span, best_counting
from .source import Source

_SPAN = re.compile(r"(T[^\t]*)\t(\S+) (\d{1,9} \d{1,9}(?:;\d{1,9} \d{1,9})*)(?:\t(.*))?", re.DOTALL)
_LINE_BREAKS = re.compile(r"[\r\n]+")
_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_LINE = re.compile(r"[^\r\n]+")
_LONGEST_NAME = 255
"""Bytes of the name of a file on most systems."""
_SHOWN_CHARACTERS = 40
_TEXT, _ANNOTATION = ".txt", ".ann"


class Brat(TextFormat):
    """A folder of texts with their standoff annotation, or one such file."""

    name: ClassVar[str] = "brat"
    suffixes: ClassVar[tuple[str, ...]] = (_ANNOTATION,)
    is_folder: ClassVar[bool] = True
    keeps_parts: ClassVar[bool] = True

    def recognises(self, source: Source) -> bool:
        return bool(_annotations(source.path))

    def read(self, source: Source, options: FormatOptions) -> Iterator[Record]:
        files = _annotations(source.path)
        if not files:
            raise CorpusError(f"The folder {source.path} has no {_ANNOTATION} files. Check it.")
        texts = partial(_texts, folder=source, on_bad=options.on_bad)
        yield from each(files, texts, options.on_bad)

    def written_label(self, label: str) -> str:
        return _label(label)

    def write(self, texts: Sequence[AnnotatedText], path: Path) -> None:
        if path.is_file():
            raise CorpusError(f"{path} is a file. Give a folder for the files of BRAT.")
        names = _file_names(texts)
        replace_folder(path, lambda folder: _fill(folder, texts, names))


def _annotations(path: Path) -> list[Path]:
    """The files of annotation in a folder and the folders in it, or the file itself."""
    if path.is_dir():
        return sorted(path.rglob(f"*{_ANNOTATION}"))
    return [path] if path.suffix == _ANNOTATION else []


class _Line(NamedTuple):
    """A span with its name, its label and the number of its line, as the file has it."""

    number: int
    name: str
    label: str
    span: Span


def _texts(path: Path, folder: Source, on_bad: OnBad) -> Iterator[AnnotatedText]:
    text_file = path.with_suffix(_TEXT)
    if not text_file.is_file():
        raise CorpusError(
            f"{path}:1: there is no {text_file.name} beside it. BRAT keeps the text of a document "
            "in a file of its own. Put it there."
        )
    # Without translation of line breaks, which would shift offsets.
    text = decoded(text_file, text_file.read_bytes(), folder.encoding)
    source = Source(path, folder.encoding)
    data = source.text if source.data.strip() else ""
    lines, n_bad = each_counted(
        enumerate(data.split("\n"), start=1), partial(_lines_of_spans, source), on_bad
    )
    counting = best_counting([(text, [line.span for line in lines])])
    in_characters = counting.in_characters(text)

    def mentions_of(line: _Line) -> Iterator[Mention]:
        fail = partial(source.fail, line.number)
        parts = in_characters(line.span.parts) if in_characters else line.span.parts
        parts = tuple(checked_pair(text, *part, fail) for part in parts)
        label = checked_label(line.label, fail)
        yield Mention(tuple(_joined(text, parts)), label, line.span.found, name=line.name)

    mentions, n_unfit = each_counted(lines, mentions_of, on_bad)
    root, n_bad = folder.path, n_bad + n_unfit
    name = path.relative_to(root).with_suffix("").as_posix() if root.is_dir() else path.stem
    yield AnnotatedText(
        text, mentions, name, str(text_file), bad_spans=n_bad, reading=counting.name
    )


def _lines_of_spans(source: Source, numbered: tuple[int, str]) -> Iterator[_Line]:
    """The span on a line; none for a relation, an event, an attribute or a note."""
    number, line = numbered
    if not line.startswith("T"):
        return
    found = _SPAN.fullmatch(line.rstrip("\r"))
    if found is None:
        source.fail(number, "this is no span", "A span is T1<tab>TYPE START END<tab>TEXT")
    ends = [part.split(" ") for part in found[3].split(";")]
    parts = sorted((int(start), int(end)) for start, end in ends)
    yield _Line(number, found[1], found[2], Span(tuple(parts), found[4] or ""))


def _joined(text: str, parts: Sequence[Pair]) -> Iterator[Pair]:
    """Parts with a line break or nothing between them as one: BRAT cuts spans at line breaks."""
    start, end = parts[0]
    for first, last in parts[1:]:
        if end < first and not _LINE_BREAKS.fullmatch(text, end, first):
            yield start, end
            start = first
        end = max(end, last)
    yield start, end


def _file_names(texts: Sequence[AnnotatedText]) -> list[str]:
    """A file name for each text; numbers where texts have none, or the same.

    Raises `CorpusError` for a name that is too long for a file.
    """
    names = [re.sub(r"[^\w.-]+", "_", text.name).strip("._") for text in texts]
    width = len(str(len(texts)))
    if not all(names) or len({name.lower() for name in names}) < len(names):
        return [f"{i:0{width}}" for i in range(1, len(texts) + 1)]
    for name in names:
        if (n := len(f"{name}{_ANNOTATION}".encode())) > _LONGEST_NAME:
            raise CorpusError(
                f"The document {name[:_SHOWN_CHARACTERS]!r}… would be a file whose name has {n} "
                f"bytes, and {_LONGEST_NAME} are possible. Give documents shorter ids, or none: "
                "then their files are numbered."
            )
    return names


def _fill(folder: Path, texts: Sequence[AnnotatedText], names: Sequence[str]) -> None:
    for text, name in zip(texts, names, strict=True):
        (folder / f"{name}{_TEXT}").write_bytes(text.text.encode())
        lines = [_lines(text, number, mention) for number, mention in enumerate(text.mentions, 1)]
        (folder / f"{name}{_ANNOTATION}").write_bytes("".join(lines).encode())


def _lines(text: AnnotatedText, number: int, mention: Mention) -> str:
    """A span, and its score as a note, which BRAT shows without any configuration."""
    label = _label(mention.label)
    found = " ".join(_LINE_BREAK.sub(" ", text.text[slice(*part)]) for part in mention.parts)
    # A span with a line break has a part for each line.
    parts = ";".join(f"{start} {end}" for start, end in _split(text.text, mention))
    line = f"T{number}\t{label} {parts}\t{found}\n"
    if mention.score is None:
        return line
    return f"{line}#{number}\tAnnotatorNotes T{number}\tscore {mention.score:.6g}\n"


def _label(label: str) -> str:
    return re.sub(r"\s", "_", label)


def _split(text: str, mention: Mention) -> Iterator[Pair]:
    for start, end in mention.parts:
        for line in _LINE.finditer(text, start, end):
            yield line.span()
