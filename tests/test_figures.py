"""What tests of robustness measured goes into one file, and so does which of them failed."""

from __future__ import annotations

import json
from pathlib import Path

from helpers import PROJECT, run_python

TESTS = """
import pytest

@pytest.fixture
def broken():
    raise OSError("no disk\\nat all")

def test_passes(figure):
    figure("sums", "all right")

def test_fails(figure):
    figure("products", "begun")
    assert 1 + 1 == 3

def test_has_no_disk(broken):
    pass
"""


def test_a_test_that_fails_is_a_row(tmp_path: Path) -> None:
    (tmp_path / "test_made.py").write_text(TESTS, encoding="utf8")
    rows = tmp_path / "rows.jsonl"
    result = run_python(
        "-m", "pytest", "-p", "figures", "-p", "no:cacheprovider", "--rootdir", str(tmp_path),
        str(tmp_path), "--figures", str(rows), PYTHONPATH=str(PROJECT / "tests" / "support"),
    )  # fmt: skip
    assert result.returncode == 1, result.stdout
    found = [json.loads(line) for line in rows.read_text(encoding="utf8").splitlines()]
    assert [row["test"] for row in found] == ["test_made.py"] * 4
    assert [(row["what"], row["came"]) for row in found] == [
        ("sums", "all right"),
        ("products", "begun"),
        ("test_fails", "**failed** (call): AssertionError: assert (1 + 1) == 3"),
        ("test_has_no_disk", "**failed** (setup): OSError: no disk"),
    ]
