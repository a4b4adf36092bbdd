"""Parts that are tests already: pytest runs them at their full size, file by file."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.proof.part import Came, Part, Row, Tried

PROJECT = Path(__file__).parents[2]
_LONGEST = 2000
"""Characters of the output of tests that fail."""


@dataclass(frozen=True)
class TestedPart(Part):
    """Files of tests, by patterns in tests/; they keep figures (`tests/support/figures.py`)."""

    title: str
    says: str
    patterns: Sequence[str]

    def items(self, tried: Tried) -> list[str]:
        tests = PROJECT / "tests"
        return sorted(
            str(path.relative_to(PROJECT)) for each in self.patterns for path in tests.glob(each)
        )

    def attempt(self, item: str, tried: Tried) -> Came:
        """In a process of its own; the last line of pytest, and the figures that were kept."""
        figures = tried.folder / "figures.jsonl"
        figures.unlink(missing_ok=True)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", item]
        sizes = [] if tried.is_short else ["--full"]
        ran = subprocess.run(
            [*command, *sizes, "--figures", str(figures)], cwd=PROJECT, capture_output=True,
            text=True,
        )  # fmt: skip
        lines = figures.read_text(encoding="utf8").splitlines() if figures.exists() else []
        return {
            "status": ran.returncode,
            "said": ran.stdout.strip().rpartition("\n")[2].strip("= "),
            "figures": list(map(json.loads, lines)),
            "failed": ran.stdout[-_LONGEST:] if ran.returncode else "",
        }

    def rows(self, came: Mapping[str, Came]) -> list[Row]:
        """The figures; one row of all tests, and one of each file with tests that fail."""
        kept: dict[str, list[str]] = {}
        for of_file in came.values():
            for each in of_file["figures"]:
                kept.setdefault(each["what"], []).append(each["came"])
        found = [Row(what, "; ".join(each)) for what, each in kept.items()]
        failed = {name: each for name, each in came.items() if each["status"]}
        found += [Row(name, each["said"], True) for name, each in failed.items()]
        n_files = f"{len(came)} file" + ("s" if len(came) != 1 else "")
        whole = "all tests passed" if not failed else f"tests of {len(failed)} failed"
        return [*found, Row(f"{n_files} of tests, at full size", whole, bool(failed))]
