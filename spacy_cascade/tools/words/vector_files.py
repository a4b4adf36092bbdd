"""Files of word vectors: text and binary files of word2vec, GloVe, fastText and floret.

Words are read in the order of the file, which lists the most frequent ones first, and no more than
are wanted; what follows them stays unread.
"""

from __future__ import annotations

import gzip
import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ...errors import CorpusError
from ...files import UNREADABLE, text_lines
from ...types import Reals2d
from .fast_text import MAGIC, read_fast_text
from .word_vectors import WordVectors

_LINES = 1000
"""Lines whose numbers are read at once."""
_HEADER = re.compile(r"(\d+) (\d+)\s*")
_FLORET_FIELDS = 8
"""Fields of the first line of a table of floret's: its settings."""
_FEWEST = 5
"""Numbers in a vector; a line with fewer may be a text."""
_LONGEST_HEADER = 100
_CHUNK = 1 << 20


def seems_to_have_vectors(path: Path) -> bool:
    """Whether a file is binary, or its second line has a word and the numbers of a vector."""
    if path.name.lower().endswith((".vec", ".vec.gz", ".bin", ".bin.gz", ".floret")):
        return True
    try:
        first, second = [*islice(text_lines(path), 2), "", ""][:2]
    except UNREADABLE:
        return False
    if _HEADER.fullmatch(first):
        first = second
    fields = first.split()[1:]
    return len(fields) >= _FEWEST and all(map(_is_number, fields))


def read_vectors(path: Path, max_words: int) -> WordVectors:
    """The first words of a file, with their vectors.

    Raises `CorpusError` for a file that is damaged, cut off, empty, too large, or of another kind.
    """
    try:
        if path.name.lower().endswith((".bin", ".bin.gz")):
            return WordVectors.of(*_read_binary(path, max_words))
        return _read_text(path, max_words)
    except UNREADABLE as error:
        reason = "it is cut off in the middle" if isinstance(error, EOFError) else str(error)
        raise CorpusError(f"Cannot read the vectors in {path}: {reason}. Get it anew.") from error
    except MemoryError as error:
        raise CorpusError(
            f"The vectors in {path} do not fit into memory. Take fewer words with --max-words."
        ) from error


# Text


def _read_text(path: Path, max_words: int) -> WordVectors:
    lines: Iterator[str] = (line for line in text_lines(path) if line.strip())
    first = next(lines, "")
    if not first:
        raise CorpusError(f"{path} is empty: it has no vectors.")
    promised, header = None, _HEADER.fullmatch(first)
    if header:
        promised, width = int(header[1]), int(header[2])
    elif len(first.split()) == _FLORET_FIELDS and all(map(_is_number, first.split()[:6])):
        raise CorpusError(
            f"{path} is a table of floret's, which has no list of words. Give the .bin file of the "
            "model, or make a pipeline of the table with 'spacy init vectors --mode floret' and "
            "give that with text whose words are taken."
        )
    else:
        lines, width = chain([first], lines), _width_of(path, first)
    words, blocks, n_read = list[str](), list[Reals2d](), 0
    while n_read < max_words and (block := list(islice(lines, min(_LINES, max_words - n_read)))):
        read = _of_lines(path, block, width, n_read + (2 if header else 1))
        words += read[0]
        blocks.append(read[1])
        n_read += len(block)
    if promised is not None and n_read < min(promised, max_words):
        raise CorpusError(
            f"{path} is cut off: its first line promises {promised:,} words, and it has {n_read:,}."
            " Get it anew."
        )
    vectors: Reals2d = np.concatenate([np.empty((0, width), dtype=np.float32), *blocks])
    return WordVectors.of(words, vectors)


def _width_of(path: Path, line: str) -> int:
    """Numbers in a vector, by the first line: those that follow the word."""
    fields = line.split()
    if len(fields) == 1:
        raise CorpusError(
            f"The first line of {path} has no spaces or tabs between a word and the numbers of its "
            f"vector: {line.strip()[:60]!r}."
        )
    n_numbers = next((i for i, f in enumerate(fields[:0:-1]) if not _is_number(f)), len(fields) - 1)
    if n_numbers < 1:
        raise CorpusError(
            f"The first line of {path} is no word with the numbers of its vector: "
            f"{line.strip()[:60]!r}."
        )
    return n_numbers


def _of_lines(
    path: Path, lines: Sequence[str], width: int, first: int
) -> tuple[list[str], Reals2d]:
    """Words and vectors of lines, of which the first one has a number. Words may have spaces."""
    rows = [line.split() if "\t" in line else line.rstrip().split(" ") for line in lines]
    numbers = " ".join(chain.from_iterable(row[-width:] for row in rows))
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            vectors = np.fromstring(numbers, dtype=np.float32, sep=" ").reshape(len(rows), width)
        except (ValueError, DeprecationWarning):
            _say_which(path, rows, width, first)
    for i, row in enumerate(rows):
        if len(row) <= width or (len(row) > width + 1 and _is_number(row[-width - 1])):
            _say_which(path, rows[i : i + 1], width, first + i)
    return [" ".join(row[:-width]) for row in rows], vectors


def _say_which(path: Path, rows: Sequence[Sequence[str]], width: int, first: int) -> NoReturn:
    """Raise the error of the first row that is not as the others are."""
    found = f"Some lines of {path} have other"
    for number, row in enumerate(rows, start=first):
        wrong = next((field for field in row[1:] if not _is_number(field)), None)
        if len(row) != width + 1 or wrong is not None:
            found = f"Line {number:,} of {path} has " + (
                f"{len(row) - 1} numbers" if wrong is None else f"{wrong[:40]!r} among its numbers"
            )
            break
    raise CorpusError(
        f"{found} where others have {width}. The file may be cut off or damaged: get it anew."
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


# Binary


def _read_binary(path: Path, max_words: int) -> tuple[list[str], Reals2d]:
    opened: Any = gzip.open if path.name.lower().endswith(".gz") else open
    with opened(path, "rb") as file:
        line = file.readline(_LONGEST_HEADER)
        is_fast_text = line.startswith(MAGIC)
        if is_fast_text and opened is open:
            return read_fast_text(path, max_words)
        header = _HEADER.fullmatch(line.decode("ascii", "replace"))
        if not header:
            raise CorpusError(
                f"{path} is no binary file of vectors of fastText, floret or word2vec"
                + (", or a compressed one: unpack it first." if is_fast_text else ".")
            )
        n_words, width = min(int(header[1]), max_words), int(header[2])
        words, vectors = list[str](), np.empty((n_words, width), dtype=np.float32)
        for word, row in zip(range(n_words), _of_word2vec(file, width), strict=False):
            words.append(row[0])
            vectors[word] = np.frombuffer(row[1], dtype="<f4")
    if len(words) < n_words:
        raise EOFError
    return words, vectors


def _of_word2vec(file: Any, width: int) -> Iterator[tuple[str, bytes]]:
    """Words and the bytes of their vectors; ends where the file does."""
    buffer, begin, n_bytes = b"", 0, 4 * width
    while True:
        space = buffer.find(b" ", begin)
        end = space + 1 + n_bytes
        if space < 0 or len(buffer) < end:
            more = file.read(_CHUNK + n_bytes)
            if not more:
                return
            buffer, begin = buffer[begin:] + more, 0
            continue
        word = buffer[begin:space].lstrip(b"\n").decode("utf8", "replace")
        yield word, buffer[space + 1 : end]
        begin = end
