"""Files of word clusters in the format of Brown's algorithm, as many tools write them.

A line is `path TAB word TAB count`. The path, of the characters 0 and 1, leads from the root of a
binary tree to the cluster of the word. Words whose paths begin alike are in the same cluster of a
coarser division. Files may be compressed with gzip.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ...errors import TemplateError
from ...files import UNREADABLE, replace_file, text_lines

LONGEST_PATH = 60
"""Characters of a path; as a number, it has to fit into 64 bits."""


@dataclass(frozen=True, slots=True)
class ClusteredWord:
    """A line of a file: path to the cluster, word, and how often the word was seen."""

    path: str
    word: str
    count: int


def read_paths(name: str, path: str) -> Iterator[ClusteredWord]:
    """The words of a file of clusters that the config calls `name`.

    Raises `TemplateError` for a file that cannot be read, and for a line that is damaged.
    """
    try:
        for number, line in enumerate(text_lines(path), start=1):
            if line.strip():
                yield _parsed(name, number, line.rstrip("\r\n"))
    except UNREADABLE as error:
        raise TemplateError(
            f"Cannot read the clusters '{name}': {error}. Give the path of a UTF-8 text file with "
            "'path TAB word TAB count' on each line, under "
            "[components.*.model.templates.clusters]. 'spacy cascade words cluster' makes one."
        ) from None


def _parsed(name: str, number: int, line: str) -> ClusteredWord:
    path, *rest = line.split("\t")
    if (
        len(rest) == 2
        and rest[0]
        and rest[1].isdecimal()
        and 0 < len(path) <= LONGEST_PATH
        and not path.strip("01")
    ):
        return ClusteredWord(path, rest[0], int(rest[1]))
    raise TemplateError(
        f"Line {number} of the clusters '{name}' is not 'path TAB word TAB count': {line[:100]!r}. "
        f"A path has 1 to {LONGEST_PATH} characters, all of them 0 or 1; a count is a whole number."
    )


def write_paths(path: Path, words: Iterable[ClusteredWord]) -> None:
    """Write a file of clusters, compressed if its name ends in `.gz`; an earlier one is kept until
    the new one is whole."""
    text = "".join(f"{word.path}\t{word.word}\t{word.count}\n" for word in words).encode()
    replace_file(path, gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)
