"""How commands print."""

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import typer
from wasabi import msg
from wasabi.tables import table
from wasabi.util import MESSAGES, color

from spacy_cascade.files import replace_file

_WIDEST = 64
"""Columns are padded to that at most; a longer cell stands out."""


def print_line(style: str, text: str, *, to_stderr: bool = False) -> None:
    """Print in wasabi's style, but on the stream asked for and without wrapping, which
    would break paths and quoted lines."""
    if msg.pretty and style:
        text = f"{msg.icons[style]} {text}"
        text = color(text, fg=msg.colors[style]) if msg.show_color else text
    _echo(text, to_stderr)


def print_table(rows: Iterable[Sequence[object]], header: Sequence[str], aligns: str) -> None:
    """Print a table of any width; aligns: `l` or `r` for each column."""
    letters: Any = list(aligns)
    text = table(list(rows), header=header, divider=True, max_col=_WIDEST, aligns=letters)
    _echo("\n".join(line.rstrip() for line in text.strip("\n").splitlines()), False)


def write_text(path: Path, text: str) -> None:
    """Write a text, in a new folder if need be.

    A file name in it may not be valid Unicode; it stands there as JSON has it.
    """
    replace_file(path, text.encode("utf8", "backslashreplace"))


def write_file(path: Path, text: str, what: str) -> None:
    """Write a text, in a new folder if need be, and say so."""
    write_text(path, text)
    print_line(MESSAGES.GOOD, f"{what} -> {path}")


def write_json(path: Path, value: object, what: str) -> None:
    """Write a value with all digits of its numbers, and say so."""
    write_file(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n", what)


def _echo(text: str, to_stderr: bool) -> None:
    # A label or a path may have characters that the terminal has not.
    encoding = (sys.stderr if to_stderr else sys.stdout).encoding or "utf-8"
    typer.echo(text.encode(encoding, "backslashreplace").decode(encoding), err=to_stderr)
