"""Bytes as text: which encoding they have, or seem to have; and words that spaCy cannot use."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from pathlib import Path

from ...errors import CorpusError

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16",
}  # fmt: skip
"""The mark of UTF-32 begins as that of UTF-16, so it comes first."""
_SHARE = 0.3
"""Share of zero bytes, of all in even or odd places, that only UTF-16 has."""
_PRINTABLE = 0.95
"""Share of the characters of a text that are printable or white space."""
_WESTERN = "cp1252"
BYTE_ORDER_MARK = "\ufeff"
REPLACEMENT = "\ufffd"

# Bytes that are not UTF-8 are read as lone surrogates (`surrogateescape`).
NOT_UTF8 = re.compile("[\ud800-\udfff]")


def marked_encoding(data: bytes) -> str:
    """The encoding that a byte order mark at the beginning tells, else UTF-8."""
    return next((name for mark, name in _MARKS.items() if data.startswith(mark)), "utf-8")


def seeming_encoding(data: bytes) -> str | None:
    """The encoding that bytes seem to have which are not UTF-8; None if they are no text."""
    if b"\0" in data:
        shares = [data[first::2].count(0) / max(1, len(data) // 2) for first in (1, 0)]
        names = ("utf-16-le", "utf-16-be")
        likely = [name for name, share in zip(names, shares, strict=True) if share > _SHARE]
        return next((name for name in likely if _is_text(data, name)), None)
    return _WESTERN if _is_text(data, _WESTERN) else None


def _is_text(data: bytes, encoding: str) -> bool:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return False
    n = sum(character.isprintable() or character.isspace() for character in text)
    return n >= _PRINTABLE * len(text)


def decoded(path: Path, data: bytes, encoding: str | None, errors: str = "strict") -> str:
    """The text of a file without its byte order mark.

    encoding: None for the one that the mark tells, or UTF-8. Raises `CorpusError` with the line
    for bytes that are none of this encoding, with the one that they seem to have.
    """
    name = encoding or marked_encoding(data)
    try:
        text = data.decode(name, errors if name == "utf-8" else "strict")
    except LookupError as error:
        raise CorpusError(f"There is no encoding {name!r}. Give one as utf-8 or cp1252.") from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CorpusError(f"{path}:{line}: {problem_of(data, name)}") from error
    if not encoding and name == "utf-8" and "\0" in text and seeming_encoding(data):
        raise CorpusError(f"{path}:1: {problem_of(data, name)}")
    return text.removeprefix(BYTE_ORDER_MARK)


def problem_of(data: bytes, name: str = "utf-8") -> str:
    """What is wrong with bytes that are not of an encoding, and what to do."""
    seeming = seeming_encoding(data)
    shown = name.upper()
    if seeming in (None, name):
        return f"the file is not {shown}. Save it as UTF-8, or name its encoding by --encoding."
    kind = "Windows-1252 or Latin-1" if seeming == _WESTERN else seeming.upper()
    return (
        f"the file is not {shown}. It seems to be {kind}: read it with --encoding {seeming}, or "
        "save it as UTF-8."
    )


def other_encoding(data: bytes, lines: Sequence[str]) -> str:
    """What to do where most words beyond ASCII are not UTF-8; empty where only few are damaged.

    lines: of the data, with lone surrogates for bytes that are not UTF-8.
    """
    foreign = [line for line in lines if not line.isascii()]
    damaged = sum(NOT_UTF8.search(line) is not None for line in foreign)
    problem = problem_of(data)
    return problem[0].upper() + problem[1:] if damaged > len(foreign) / 2 else ""


def word_problem(word: str) -> str | None:
    """Why spaCy cannot use `word`, or None if it can.

    A `Doc` refuses the empty string and invalid Unicode. It accepts a word of whitespace, but no
    entity can begin there.
    """
    if word and not word.isspace():
        return encoding_problem(word)
    return "is only whitespace" if word else "is empty"


def encoding_problem(text: str) -> str | None:
    """What is wrong with a text that was read with `surrogateescape`, or None."""
    return "is not valid UTF-8" if NOT_UTF8.search(text) else None
