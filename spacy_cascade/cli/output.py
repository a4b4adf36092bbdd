"""What commands print and write: lines, tables, files, pipelines and errors."""

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import Any, ParamSpec

import typer
from click.exceptions import ClickException
from spacy.language import Language
from spacy.tokens import Doc
from wasabi import msg
from wasabi.tables import table
from wasabi.util import MESSAGES, color

from ..errors import CascadeError, ConfigError
from ..files import replace_file

Parameters = ParamSpec("Parameters")

STOPPED = 130
"""Exit status after Ctrl-C."""
_DELIMITERS, _JSON_LINES = {".csv": ",", ".tsv": "\t"}, ".jsonl"
"""Suffixes of files that hold rows, and what separates the cells of tables."""
_WIDEST = 64
"""Columns are padded to at most this width; a longer cell stands out."""


class Debug:
    """Whether errors that are not expected show their traceback."""

    is_on = False


DEBUG = Debug()


def reports_errors(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Make a command print an expected error as one line on standard error, and exit with 1."""

    @wraps(command)  # Typer reads the parameters and the help text of the command itself.
    def reporting(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except (CascadeError, OSError) as error:
            text = str(error)
            if isinstance(error, OSError) and error.filename is not None:
                text = f"Cannot read or write {error.filename}: {error.strerror}. Check the path."
            print_line(text, MESSAGES.FAIL, to_stderr=True)
            raise typer.Exit(1) from None
        except (typer.Exit, typer.Abort, typer.BadParameter, ClickException):
            raise
        except Exception as error:
            if DEBUG.is_on:
                raise
            text = f"{type(error).__name__}: {error} For the traceback: spacy cascade --debug …"
            print_line(text, MESSAGES.FAIL, to_stderr=True)
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            text = "Stopped before the end. What was there before is unchanged."
            print_line(text, MESSAGES.WARN, to_stderr=True)
            raise typer.Exit(STOPPED) from None

    return reporting


def print_line(text: str, style: str = "", *, to_stderr: bool = False) -> None:
    """Print in one of wasabi's styles, but never wrap: that would break paths and quoted lines."""
    if msg.pretty and style:
        text = f"{msg.icons[style]} {text}"
        text = color(text, fg=msg.colors[style]) if msg.show_color else text
    _echo(text, to_stderr)


print_good = partial(print_line, style=MESSAGES.GOOD)
print_info = partial(print_line, style=MESSAGES.INFO)
print_warning = partial(print_line, style=MESSAGES.WARN)


def texts_of(doc: Doc, spans: Iterable[tuple[int, int, str]], sign: str = "") -> list[str]:
    """Spans as in `IL-2 gene [DNA]`."""
    return [f"{sign}{doc[start:end].text} [{label}]" for start, end, label in spans]


def print_table(rows: Iterable[Sequence[object]], header: Sequence[str], aligns: str) -> None:
    """Print a table of any width between blank lines; aligns: `l` or `r` for each column."""
    letters: Any = list(aligns)
    text = table(list(rows), header=header, divider=True, max_col=_WIDEST, aligns=letters)
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    _echo("\n".join(["", *lines, ""]))


def counted(n: int, noun: str, nouns: str = "") -> str:
    """A number with its noun, as in `1 entity` or `1,024 entities`."""
    return f"{n:,} {noun if n == 1 else nouns or noun + 's'}"


def percent(value: float | None) -> str:
    """A share as a percentage with two digits, or a dash where there is none."""
    return "-" if value is None else f"{100 * value:.2f}"


def write_text(path: Path, text: str) -> None:
    """Write a file, and the folders above it.

    A file name inside the text may be invalid Unicode; it is then written as JSON escapes it.
    """
    replace_file(path, text.encode("utf8", "backslashreplace"))


def write_file(path: Path, text: str, what: str) -> None:
    """Write a text to a file and say so; what: names it for the reader."""
    write_text(path, text)
    print_good(f"{what} -> {path}")


def write_json(path: Path, value: object, what: str) -> None:
    """Write a value with all digits of its numbers."""
    write_file(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n", what)


def check_rows_file(path: Path | None) -> None:
    """Raise `ConfigError` for a file that `write_rows` cannot write, before the work begins."""
    if path is not None and path.suffix.lower() not in _DELIMITERS and path.suffix != _JSON_LINES:
        known = " ".join([*_DELIMITERS, _JSON_LINES])
        raise ConfigError(f"{path} is no file for rows. Give it one of the suffixes {known}.")


def write_rows(path: Path, rows: Iterable[Mapping[str, object]], names: Sequence[str]) -> None:
    """Write rows as JSON Lines, or as a table where the name ends in `.csv` or `.tsv`.

    names: of the columns. A table has a byte order mark, which tells Excel that it is UTF-8; a
    value that is missing or None is an empty cell. Raises `ConfigError` for another suffix.
    """
    check_rows_file(path)
    if path.suffix == _JSON_LINES:
        write_json_lines(path, rows)
    else:
        write_table(path, rows, names)


def write_json_lines(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    """Write an object a line."""
    lines = (json.dumps(dict(row), ensure_ascii=False) + "\n" for row in rows)
    replace_file(path, "".join(lines).encode())


def write_table(path: Path, rows: Iterable[Mapping[str, object]], names: Sequence[str]) -> None:
    """Write rows as a table; tabs separate the cells if the name says so, else commas."""
    made = io.StringIO()
    writer = csv.DictWriter(made, names, delimiter=_DELIMITERS.get(path.suffix.lower(), ","))
    writer.writeheader()
    writer.writerows(rows)
    replace_file(path, made.getvalue().encode("utf-8-sig"))


def write_pipeline(nlp: Language, path: Path, what: str) -> None:
    """Save a pipeline and say so; what: names it for the reader."""
    # Not at the top: it takes half a second to import.
    from ..pipeline.saving import save_pipeline

    save_pipeline(nlp, path)
    print_good(f"{what} -> {path}")


def _echo(text: str, to_stderr: bool = False) -> None:
    # A label or a path may contain characters that the terminal cannot show.
    encoding = (sys.stderr if to_stderr else sys.stdout).encoding or "utf-8"
    typer.echo(text.encode(encoding, "backslashreplace").decode(encoding), err=to_stderr)
