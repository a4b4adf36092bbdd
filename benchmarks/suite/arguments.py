"""Settings of our systems on the command line."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

AS_IT_IS = "as it is"
"""The setting without any changes."""


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
