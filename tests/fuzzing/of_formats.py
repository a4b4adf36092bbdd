"""Readers of annotated files: a target for each format that is registered, and one for all.

What is read becomes Docs, as `convert` makes them. The seeds of a format are its files among those
of the tests, those in `seeds`, and what it writes itself; so a new format is fuzzed, too.
"""

from __future__ import annotations

import io
import shutil
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from tests.fuzzing.target import (
    JSON_PIECES,
    TEXT_PIECES,
    Fuzzed,
    chosen,
    folder,
    in_file,
    packed,
    split_head,
    unpacked,
)

FILES = Path(__file__).parents[1] / "tools/formats/exchange/files"
SEEDS = Path(__file__).with_name("seeds")
_PIECES = (
    *JSON_PIECES, *TEXT_PIECES, b"I-", b"B-", b"L-", b"-X", b"# id = 1\n", b"-DOCSTART-",
    b"1|t|", b"T1\tX 0 1\ta\n", b"#Text=", b"NER=", b"Entity=(e1-X", b"[1/2]", b"<x/>", b"&#0;",
)  # fmt: skip


@cache
def format_targets() -> dict[str, Fuzzed]:
    """By their names; a format that is a folder has several files in an input."""
    from spacy_cascade.tools.formats.exchange.registry import AUTO, formats

    found = {
        f"format-{name}": Fuzzed(
            partial(_read_folder if form.is_folder else _read_file, name), partial(_seeds, name),
            _PIECES,
        )
        for name, form in formats().items()
    }  # fmt: skip
    any_format = Fuzzed(partial(_read_file, AUTO), _seeds_of_all, _PIECES)
    return {**found, "format-auto": any_format, "workbook": Fuzzed(_workbook, _books, _PIECES)}


# Reading


def _read_file(name: str, data: bytes) -> None:
    """The first line is the name of the file, whose suffix says how some formats are read."""
    head, content = split_head(data)
    ends = (".txt", ".json", ".jsonl", ".csv", ".tsv", ".xml")
    _read(in_file(content, "input" + chosen(head.lower(), ends)), name, len(data))


def _read_folder(name: str, data: bytes) -> None:
    path = folder() / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    for member, content in unpacked(data).items():
        (path / member.replace("/", "-")).write_bytes(content)
    _read(path, name, len(data))


def _workbook(data: bytes) -> None:
    """Files of an Excel workbook, which are packed here so that all checksums are right."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for member, content in unpacked(data).items():
            archive.writestr(member, content)
    path = in_file(buffer.getvalue(), "input.xlsx")
    _read(path, "auto", len(data))


def _read(path: Path, name: str, number: int) -> None:
    """Read and place all; the number chooses the options.

    What cannot be read is passed over; at the end the first error of it is raised.
    """
    from spacy_cascade.errors import CorpusError
    from spacy_cascade.tools.formats.exchange.base import FormatOptions
    from spacy_cascade.tools.formats.exchange.registry import find_sources

    bad: list[CorpusError] = []
    options = FormatOptions(
        predictions=number % 2 == 0, all_annotators=number % 4 < 2, on_bad=bad.append
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about tags that do not follow each other, and others
        reader, sources = find_sources(path, name)
        _make_docs(reader, sources, options)
    if bad:
        raise bad[0]


def _make_docs(reader: Any, sources: Sequence[Any], options: Any) -> None:
    from spacy.vocab import Vocab

    from spacy_cascade.tools.formats.discontinuous import Discontinuous
    from spacy_cascade.tools.formats.docs import style_of, to_docs
    from spacy_cascade.tools.formats.exchange.base import TextFormat
    from spacy_cascade.tools.formats.placing import place
    from spacy_cascade.tools.formats.spacing import Spacing
    from spacy_cascade.tools.formats.texts import AnnotatedText
    from spacy_cascade.tools.tokenizers.tokenizing import tokenize

    if isinstance(reader, TextFormat):
        nlp, parts = _blank(), Discontinuous.PARTS
        for one in sources:
            for text in reader.read(one, options):
                if isinstance(text, AnnotatedText):
                    place(
                        text, partial(tokenize, nlp), nlp.vocab, spans_key="sc",
                        discontinuous=parts,
                    )  # fmt: skip
        return
    documents = [document for one in sources for document in reader.read(one, options)]
    style, spacing = style_of(documents, Spacing.NATURAL)
    list(to_docs(documents, Vocab(), spacing=spacing, style=style, spans_key="sc"))


@cache
def _tokenizer() -> Any:
    from helpers import blank

    return blank()


def _blank() -> Any:
    """A pipeline that forgets the words of earlier inputs once there are many."""
    if len(_tokenizer().vocab) > 100_000:
        _tokenizer.cache_clear()
    return _tokenizer()


# Seeds


def _seeds(name: str) -> list[bytes]:
    from spacy_cascade.tools.formats.exchange.registry import format_named

    form = format_named(name)
    if form.is_folder:
        path = FILES / name
        given = [packed((each.name, each.read_bytes()) for each in sorted(path.iterdir()))]
    else:
        given = [_named(path) for path in _files() if _form_of(path) == name]
    return [*given, *_written(name)] or _seeds_of_all()


def _seeds_of_all() -> list[bytes]:
    return [*map(_named, _files())]


def _files() -> Iterator[Path]:
    for path in sorted([*FILES.iterdir(), *SEEDS.iterdir()]):
        if path.is_file():
            yield path


def _form_of(path: Path) -> str:
    """The format of a file; of a few bytes that are no corpus none."""
    from spacy_cascade.errors import CorpusError
    from spacy_cascade.tools.formats.exchange.registry import find_sources

    try:
        return find_sources(path)[0].name
    except CorpusError:
        return ""


def _named(path: Path) -> bytes:
    return path.suffix.encode() + b"\n" + path.read_bytes()


def _written(name: str) -> list[bytes]:
    """What a format writes of two texts; nothing where it can only be read."""
    from spacy_cascade.errors import CascadeError
    from spacy_cascade.tools.formats.exchange.registry import format_named
    from spacy_cascade.tools.formats.texts import AnnotatedText, Mention

    spans = Mention(((0, 4),), "protein", score=0.5), Mention(((11, 15),), "DNA")
    texts = [
        AnnotatedText("IL-2 binds CD28 .", spans, name="a"),
        AnnotatedText("Nothing .", name="b"),
    ]
    path = folder() / f"written-{name}"
    try:
        format_named(name).write(texts, path)
    except CascadeError:
        return []
    if path.is_dir():
        return [packed((each.name, each.read_bytes()) for each in sorted(path.iterdir()))]
    return [b"\n" + path.read_bytes()]


def _books() -> list[bytes]:
    """Two workbooks, file by file: a word a row, and a text a row."""
    import openpyxl

    found = []
    for rows in (
        [["word", "tag"], ["IL-2", "B-X"], ["binds", "O"], [None, None], ["CD28", "B-Y"]],
        [["text", "entities"], ["IL-2 binds", '[[0, 4, "X"]]']],
    ):
        book, buffer = openpyxl.Workbook(), io.BytesIO()
        for row in rows:
            book.active.append(row)
        book.save(buffer)
        with zipfile.ZipFile(buffer) as archive:
            found.append(packed((name, archive.read(name)) for name in archive.namelist()))
    return found
