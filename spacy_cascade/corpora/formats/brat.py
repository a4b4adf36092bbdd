"""BRAT: a folder with a text `NAME.txt` and its standoff annotation `NAME.ann` for each document.

Format: https://brat.nlplab.org/standoff.html. `T1<tab>TYPE 0 5;9 12<tab>text` is a span of one or
more parts; relations, events, attributes and notes are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from ...errors import CorpusError
from ...files import replace_folder
from ..bad_records import OnBad, each, each_counted
from ..texts import AnnotatedText, Mention, Pair, Record, checked_label, checked_pair
from .base import FormatOptions, TextFormat
from .source import Source

_SPAN = re.compile(r"(T[^\t]*)\t(\S+) (\d+ \d+(?:;\d+ \d+)*)(?:\t(.*))?", re.DOTALL)
_LINE_BREAKS = re.compile(r"[\r\n]+")
_TEXT, _ANNOTATION = ".txt", ".ann"


class Brat(TextFormat):
    name: ClassVar[str] = "brat"
    suffixes: ClassVar[tuple[str, ...]] = (_ANNOTATION,)
    is_folder: ClassVar[bool] = True

    def recognises(self, source: Source) -> bool:
        return bool(_annotations(source.path))

    def read(self, source: Source, options: FormatOptions) -> Iterator[Record]:
        files = _annotations(source.path)
        if not files:
            raise CorpusError(f"The folder {source.path} has no {_ANNOTATION} files. Check it.")
        texts = partial(_texts, root=source.path, on_bad=options.on_bad)
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


def _texts(path: Path, root: Path, on_bad: OnBad) -> Iterator[AnnotatedText]:
    text_file = path.with_suffix(_TEXT)
    if not text_file.is_file():
        raise CorpusError(
            f"{path}:1: there is no {text_file.name} beside it. BRAT keeps the text of a document "
            "in a file of its own. Put it there."
        )
    try:
        # Without translation of line breaks, which would shift offsets.
        text = text_file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        line = text_file.read_bytes().count(b"\n", 0, error.start) + 1
        raise CorpusError(f"{text_file}:{line}: the file is not UTF-8. Save it so.") from error
    source = Source(path)
    data = source.text if source.data.strip() else ""
    lines = enumerate(data.split("\n"), start=1)
    mentions, n_bad = each_counted(lines, partial(_mentions, source, text), on_bad)
    name = path.relative_to(root).with_suffix("").as_posix() if root.is_dir() else path.stem
    yield AnnotatedText(text, mentions, name, str(text_file), bad_spans=n_bad)


def _mentions(source: Source, text: str, numbered: tuple[int, str]) -> Iterator[Mention]:
    """The span on a line; none for a relation, an event, an attribute or a note."""
    number, line = numbered
    if not line.startswith("T"):
        return
    found = _SPAN.fullmatch(line.rstrip("\r"))
    if found is None:
        source.fail(number, "this is no span", "A span is T1<tab>TYPE START END<tab>TEXT")
    fail = partial(source.fail, number)
    pairs = [part.split(" ") for part in found[3].split(";")]
    parts = sorted(checked_pair(text, int(start), int(end), fail) for start, end in pairs)
    label = checked_label(found[2], fail)
    yield Mention(tuple(_joined(text, parts)), label, found[4] or "")


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
    """A file name for each text; numbers where texts have none, or the same."""
    names = [re.sub(r"[^\w.-]+", "_", text.name).strip("._") for text in texts]
    width = len(str(len(texts)))
    is_usable = all(names) and len({name.lower() for name in names}) == len(names)
    return names if is_usable else [f"{i:0{width}}" for i in range(1, len(texts) + 1)]


def _fill(folder: Path, texts: Sequence[AnnotatedText], names: Sequence[str]) -> None:
    for text, name in zip(texts, names, strict=True):
        (folder / f"{name}{_TEXT}").write_bytes(text.text.encode())
        lines = [_lines(text, number, mention) for number, mention in enumerate(text.mentions, 1)]
        (folder / f"{name}{_ANNOTATION}").write_bytes("".join(lines).encode())


def _lines(text: AnnotatedText, number: int, mention: Mention) -> str:
    """A span, and its score as a note, which BRAT shows without any configuration."""
    label = _label(mention.label)
    found = re.sub(r"\s", " ", text.text[mention.start : mention.end])
    # A span with a line break has a part for each line.
    parts = ";".join(f"{start} {end}" for start, end in _split(text.text, mention))
    line = f"T{number}\t{label} {parts}\t{found}\n"
    if mention.score is None:
        return line
    return f"{line}#{number}\tAnnotatorNotes T{number}\tscore {mention.score:.6g}\n"


def _label(label: str) -> str:
    return re.sub(r"\s", "_", label)


def _split(text: str, mention: Mention) -> Iterator[Pair]:
    at = mention.start
    for part in text[mention.start : mention.end].split("\n"):
        if part:
            yield at, at + len(part)
        at += len(part) + 1
