"""Corpora of the suite, and settings of our systems, on the command line."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..lib.arguments import existing, new_parser
from ..lib.processes import Result, TaskRunner
from ..reports.output import write_json
from .corpora import CORPORA

AS_IT_IS = "as it is"
"""The setting without any changes."""


def data_parser(description: str | None, output: str) -> argparse.ArgumentParser:
    """A parser with the folder of the corpora."""
    parser = new_parser(description, output=output)
    parser.add_argument("--data", type=existing, default="assets/suite", help="as for the suite")
    return parser


def corpora_parser(
    description: str | None, output: str, nargs: str | None = "+"
) -> argparse.ArgumentParser:
    """Also with names of corpora. nargs: how many; None for one, which is called `corpus`."""
    parser = data_parser(description, output)
    if nargs is None:
        parser.add_argument("corpus", choices=sorted(CORPORA))
    else:
        parser.add_argument("corpora", nargs=nargs, choices=sorted(CORPORA), default=list(CORPORA))
    return parser


RowsOf = Callable[[TaskRunner, argparse.Namespace, str], Iterable[Result]]
"""Measures one corpus."""


def for_each_corpus(rows_of: RowsOf) -> Callable[[TaskRunner, argparse.Namespace], Result]:
    """Measure one corpus after the other; what is done is in the file of results already."""

    def measure(runner: TaskRunner, arguments: argparse.Namespace) -> Result:
        rows: list[Result] = []
        for name in arguments.corpora:
            rows += rows_of(runner, arguments, name)
            write_json({"rows": rows}, arguments.output)
        return {"rows": rows}

    return measure


def add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--setting", nargs="+", action="append", default=[], metavar=("NAME", "OPTION=VALUE"),
        help="a further setting of our systems; VALUE is JSON or a text",
    )  # fmt: skip


def read_settings(given: Sequence[Sequence[str]]) -> dict[str, dict[str, Any]]:
    """For each name, settings of the config: `OPTION=VALUE`, where VALUE is JSON or a text."""
    return dict(map(_read, given))


def _read(given: Sequence[str]) -> tuple[str, dict[str, Any]]:
    found: dict[str, Any] = {}
    for text in given[1:]:
        option, _, value = text.partition("=")
        try:
            found[option] = json.loads(value)
        except json.JSONDecodeError:
            found[option] = value
    return given[0], found
