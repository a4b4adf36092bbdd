"""What a target of fuzzing is, and what targets share."""

from __future__ import annotations

import atexit
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).parents[2]
PACKAGE = f"{PROJECT / 'spacy_cascade'}{os.sep}"
sys.path[:0] = [str(PROJECT / "tests/support"), str(PROJECT / "examples")]

Target = Callable[[bytes], None]

JSON_PIECES = (
    b"NaN", b"1e999", b"-1", b"null", b"true", b"[]", b"{}", b'""', b'"\\ud800"', b"9" * 30,
    b"9" * 5000, b"[" * 40, b'{"a":', b",", b":", b'"',
)  # fmt: skip
TEXT_PIECES = (
    b"\n", b"\t", b"\r", b"\x00", b"\xff", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\xff\xfe",
    b"\xf0\x9f\x98\x80", b"0", b"-1", b"99999999999", b"(", b")", b"[", b"]", b"<", b">", b"&",
    b"|", b"_", b"#", b"=", b'"', b"'", b"\\", b"*", b";", b",",
)  # fmt: skip
_SEPARATOR = b"\x00"
"""Between the files of a folder."""
_NAME = re.compile(r"[\w\[\]][\w\[\].-]*(/[\w\[\]][\w\[\].-]*)*")


class Fuzzed(NamedTuple):
    """A target, inputs to begin with, and pieces to insert."""

    run: Target
    seeds: Callable[[], list[bytes]]
    pieces: tuple[bytes, ...]


def refusing(data: bytes, run: Target) -> bool:
    """Whether a target refuses an input by an error of the package; other errors get through."""
    from spacy_cascade.errors import CascadeError

    try:
        run(data)
    except CascadeError:
        return True
    return False


def split_head(data: bytes) -> tuple[bytes, bytes]:
    """The first line without its end, which chooses what the rest is for."""
    head, _, rest = data.partition(b"\n")
    return head, rest


def chosen(head: bytes, names: Iterable[str]) -> str:
    """The name that a line has, else the first one."""
    names = list(names)
    text = head.decode("latin-1")
    return text if text in names else names[0]


@cache
def folder() -> Path:
    """In memory where the system has such a place: a file is written for each input."""
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    made = tempfile.TemporaryDirectory(prefix="fuzzing-", dir=in_memory)
    atexit.register(made.cleanup)
    return Path(made.name)


def in_file(data: bytes, name: str) -> Path:
    """The path of a file with the input."""
    path = folder() / name
    path.write_bytes(data)
    return path


def packed(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Several files as one input."""
    return _SEPARATOR.join(name.encode() + b"\n" + content for name, content in files)


def unpacked(data: bytes) -> dict[str, bytes]:
    """The files of an input, by names that stay in the folder."""
    files = {}
    for part in data.split(_SEPARATOR):
        head, content = split_head(part)
        name = head.decode("latin-1")
        files[name if _NAME.fullmatch(name) and len(name) < 100 else "x"] = content
    return files


def places_of(error: BaseException) -> list[str]:
    """File and line of all calls that an error came through.

    `traceback` would read the source, which takes longer.
    """
    places, trace = list[str](), error.__traceback__
    while trace is not None:
        places.append(f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}")
        trace = trace.tb_next
    return places


def described(error: BaseException, data: bytes) -> str:
    """A defect as text, with the input as JSON so that it can be copied."""
    shown = json.dumps(data[:2000].decode("latin1"))
    return f"{type(error).__name__}: {error}\ninput (latin-1, as JSON): {shown}"
