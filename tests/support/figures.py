"""Figures that tests of robustness keep: a plugin of pytest.

A test keeps what was tried and what came of it. A test that fails has a row that says so, whatever
it kept before: a table of figures shows what failed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

LONGEST = 200
"""Characters of an error."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--figures", type=Path, help="append what tests in tests/robustness measure to this file"
    )


def keep(item: pytest.Item, what: str, came: str) -> None:
    """Print a figure, and append it to the file of `--figures`, as a line of JSON."""
    file: Path | None = item.config.getoption("--figures")
    print(f"{what}: {came}")
    if file is not None:
        row = {"test": item.path.name, "what": what, "came": came}
        with file.open("a", encoding="utf8") as lines:
            lines.write(json.dumps(row) + "\n")


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Keep a measured figure: what was tried, and what came of it."""
    return lambda what, came: keep(request.node, what, came)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Iterator[None]:
    outcome: Any = yield
    if item.config.getoption("--figures") is None:
        return
    if outcome.get_result().failed and call.excinfo is not None:
        first = str(call.excinfo.value).partition("\n")[0]
        error = f"{call.excinfo.typename}: {first}"[:LONGEST]
        keep(item, item.name, f"**failed** ({call.when}): {error}")
