"""Files of unlabelled text: which there are, and the texts in them, read one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import srsly

from .errors import CorpusError
from .files import UNREADABLE, text_lines

DOCS = ".spacy"
SUFFIXES = (".txt", ".txt.gz", ".jsonl", ".jsonl.gz", DOCS)


def find_sources(
    paths: Iterable[Path], left_out: Iterable[Path] = (), suffixes: tuple[str, ...] = SUFFIXES
) -> list[Path]:
    """The files themselves, and all files with one of the suffixes in folders, sorted by name.

    left_out: files and folders that are not looked for in folders. Folders inside folders are
    searched, too; a file that is named twice is listed once. Raises `CorpusError` for a file of
    another kind, and for a folder that has none.
    """
    hidden = {path.resolve() for path in left_out}
    found: dict[Path, Path] = {}
    for path in paths:
        if not path.exists():
            raise CorpusError(f"There is no text at {path}. Check the path.")
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        chosen = [
            file
            for file in files
            if file.is_file()
            and file.name.lower().endswith(suffixes)
            and not hidden.intersection([file.resolve(), *file.resolve().parents])
        ]
        if not chosen:
            raise CorpusError(
                f"{path} {'has no files of text' if path.is_dir() else 'is no file of text'}. "
                f"Give files, or a folder of files, whose names end in {' '.join(suffixes)}."
            )
        found.update((file.resolve(), file) for file in chosen)
    return list(found.values())


def read_texts(path: Path, field: str) -> Iterator[str]:
    """The lines of a text file, or the texts of a JSONL file, without those that are empty.

    field: the one with the text in each line of JSON. Raises `CorpusError` for a file that cannot
    be read, and for a line that is no JSON object with this field.
    """
    is_json = path.name.lower().removesuffix(".gz").endswith(".jsonl")
    try:
        for number, line in enumerate(text_lines(path), start=1):
            text = _field_of(line, field, path, number) if is_json else line
            if not text.isspace() and text:
                yield text
    except UNREADABLE as error:
        raise CorpusError(
            f"Cannot read {path}: {error}. Give UTF-8 text, compressed with gzip only if the name "
            "ends in .gz."
        ) from error


def _field_of(line: str, field: str, path: Path, number: int) -> str:
    """The text of a line of JSON, "" for an empty line; half a surrogate pair becomes U+FFFD."""
    if not line.strip():
        return ""
    try:
        text = srsly.json_loads(line)[field]
        if isinstance(text, str):
            return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    except (ValueError, KeyError, TypeError):
        pass
    raise CorpusError(
        f"Line {number} of {path} is no JSON object with a text in the field '{field}': "
        f"{line.strip()[:100]!r}. Correct the line, or name the field with --field."
    )
