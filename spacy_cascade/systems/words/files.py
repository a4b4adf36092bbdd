"""Files of tables of words: those of `words make`, and lists of clusters by other tools.

A list has a line for each word, and may be compressed with gzip. Its lines are `cluster TAB word
TAB count`, as Brown's algorithm writes them, or `word cluster`, with a tab or a space between, or
the other way round. Clusters can have any names. Where all are paths, of the characters 0 and 1,
words whose paths begin alike are in the same cluster of a coarser size.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...errors import ModelFileError, TemplateError
from ...features.resources import InvalidArray
from ...features.strings import is_valid
from ...files import UNREADABLE, replace_file, text_lines
from ...numeric.arrays import Arrays
from ...storage import archive
from ...storage.arrays import check_shapes
from .table import About, WordTable, frequent_members

SUFFIX = ".words"
PATH_SIZES = (4, 6, 10)
"""Bits of a path that name its coarser clusters."""
_SIGNATURE = b"PK\3\4"
_ADVICE = "'spacy cascade words make' makes a table of text, word vectors or a transformer."


class Listed(NamedTuple):
    """A line of a list."""

    cluster: str
    word: str
    times: int


def write_table(path: Path, table: WordTable) -> None:
    """Write a table; equal tables give equal bytes. An earlier file is kept until then."""
    replace_file(path, archive.write(table.arrays()))


def read_table(name: str, path: str) -> WordTable:
    """The table in a file, or that of a list, which the config calls `name`.

    Raises `TemplateError` for a file that cannot be read, is damaged, or is neither.
    """
    try:
        with Path(path).open("rb") as file:
            is_table = file.read(len(_SIGNATURE)) == _SIGNATURE
        if is_table:
            return _checked(name, path, dict(archive.read(Path(path).read_bytes())))
        return _of_list(
            name, path, [line.rstrip("\r\n") for line in text_lines(path) if line.strip()]
        )
    except (*UNREADABLE, ValueError) as error:
        raise TemplateError(
            f"Cannot read the table of words '{name}': {error}. Give the path of a file under "
            f"[components.*.model.templates.words]. {_ADVICE}"
        ) from None


def _checked(name: str, path: str, arrays: Arrays) -> WordTable:
    try:
        check_shapes(arrays, WordTable.shapes(arrays, None))
        WordTable.check(arrays)
    except ModelFileError as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    except InvalidArray as error:
        raise ValueError(f"{path} is damaged: the array '{error.part}' {error.problem}") from None
    return WordTable(path, arrays)


def _of_list(name: str, path: str, lines: Sequence[str]) -> WordTable:
    rows = [line.split("\t" if "\t" in line else " ") for line in lines]
    n_columns = len(rows[0]) if rows else 0
    if n_columns not in (2, 3):
        raise ValueError(
            f"{path} has {n_columns or 'no'} columns where a list of clusters has two or three"
            + (", and seems to be a file of vectors" if n_columns > 3 else "")
        )
    cluster, word = (0, 1) if n_columns == 3 else _cluster_first(rows)
    words: dict[str, Listed] = {}
    for number, row in enumerate(rows, start=1):
        if len(row) != n_columns or not all(row) or (n_columns == 3 and not row[2].isdecimal()):
            raise ValueError(
                f"line {number} of {path} is not like the others: {lines[number - 1][:100]!r}"
            )
        line = Listed(row[cluster], row[word], int(row[2]) if n_columns == 3 else 0)
        # Of a word that is listed twice, the line with the greater count counts.
        earlier = words.get(line.word)
        if is_valid(line.word) and (earlier is None or line.times > earlier.times):
            words[line.word] = line
    return of_list(list(words.values()), About(name=name))


def _cluster_first(rows: Sequence[Sequence[str]]) -> tuple[int, int]:
    """The columns of the cluster and of the word: many words are in the same cluster."""
    first, second = ({row[i] for row in rows if len(row) == 2} for i in (0, 1))
    return (0, 1) if len(first) < len(second) else (1, 0)


def of_list(listed: Sequence[Listed], about: About) -> WordTable:
    """The table of distinct words. Raises `TemplateError` where there are too many clusters."""
    ordered = sorted(listed, key=lambda line: (-line.times, line.word))
    words, paths = [line.word for line in ordered], [line.cluster for line in ordered]
    cuts = [paths]
    if not any(path.strip("01") for path in paths):
        cuts = [[path[:bits] for path in paths] for bits in PATH_SIZES] + cuts
    numbers = [np.unique(cut, return_inverse=True)[1] for cut in cuts]
    distinct = list({int(number.max()): number for number in numbers}.values())
    clusters = np.stack(distinct).astype(np.int32)
    sizes = clusters.max(axis=1) + 1
    arrays = {"sizes": sizes, "members": frequent_members(words, clusters, sizes.tolist())}
    return WordTable.of(words, clusters, about, arrays)
