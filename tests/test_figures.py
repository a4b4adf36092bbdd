"""What tests of robustness measured goes into one file, and so does which of them failed."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import figures


def test_what_is_measured_and_what_failed_are_rows(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    config = SimpleNamespace(getoption={"--figures": rows}.get)
    item: Any = SimpleNamespace(name="test_fails", path=tmp_path / "test_made.py", config=config)
    figures.keep(item, "sums", "all right")
    for when, error in (
        ("call", None), ("call", AssertionError("1 + 1\nis 2")), ("setup", OSError("no disk")),
    ):  # fmt: skip
        excinfo = SimpleNamespace(value=error, typename=type(error).__name__)
        call: Any = SimpleNamespace(when=when, excinfo=excinfo)
        hook = figures.pytest_runtest_makereport(item, call)
        next(hook)
        report = SimpleNamespace(failed=error is not None)
        with pytest.raises(StopIteration):
            hook.send(SimpleNamespace(get_result=lambda report=report: report))
    written = [json.loads(line) for line in rows.read_text(encoding="utf8").splitlines()]
    assert {row["test"] for row in written} == {"test_made.py"}
    assert [(row["what"], row["came"]) for row in written] == [
        ("sums", "all right"),
        ("test_fails", "**failed** (call): AssertionError: 1 + 1"),
        ("test_fails", "**failed** (setup): OSError: no disk"),
    ]
