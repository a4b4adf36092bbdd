"""Parts that are tests already: pytest runs them at their full size, file by file."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.proof.part import FAILED, Came, Part, Row, Tried

PROJECT = Path(__file__).parents[2]
_LONGEST = 2000
"""Characters of the output of tests that fail."""


_COUNTS = re.compile(r"(\d+) (passed|failed|errors?|skipped)")
_ONE_IN = 20
"""Of the cases of slow tests, in the short form (`tests/support/sampling.py`)."""


@dataclass(frozen=True)
class PytestPart(Part):
    """Tests that keep figures (`tests/support/figures.py`).

    tests: a file of the checkout or a folder of files, each of which is an item; in the short form
    all are one, with a sample of the slow ones.
    """

    title: str
    says: str
    tests: str

    def items(self, tried: Tried) -> list[str]:
        files = sorted((PROJECT / self.tests).glob("test_*.py"))
        if tried.is_short or not files:
            return [self.tests]
        return [str(path.relative_to(PROJECT)) for path in files]

    def attempt(self, item: str, tried: Tried) -> Came:
        """In a process of its own; the last line of pytest, and the figures that were kept."""
        figures = tried.folder / "figures.jsonl"
        figures.unlink(missing_ok=True)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", item]
        sample = ["--sample", str(_ONE_IN), "--sample-seed", tried.code]
        sizes = sample if tried.is_short else ["--full"]
        ran = subprocess.run(
            [*command, *sizes, "--figures", str(figures)], cwd=PROJECT, capture_output=True,
            text=True,
        )  # fmt: skip
        lines = figures.read_text(encoding="utf8").splitlines() if figures.exists() else []
        return {
            "status": ran.returncode,
            "said": ran.stdout.strip().rpartition("\n")[2].strip("= "),
            "figures": list(map(json.loads, lines)),
            FAILED: ran.stdout[-_LONGEST:] if ran.returncode else "",
        }

    def rows(self, came: Mapping[str, Came]) -> list[Row]:
        """The figures, and a row of each file that has none or tests that fail."""
        kept: dict[str, Counter[str]] = {}
        for of_file in came.values():
            for each in of_file["figures"]:
                kept.setdefault(each["what"], Counter())[each["came"]] += 1
        found = [Row(what, "; ".join(_counted(each))) for what, each in kept.items()]
        return found + [
            Row(f"`{name}`", each["said"], bool(each["status"]))
            for name, each in came.items()
            if each["status"] or not each["figures"]
        ]

    def summary(self, came: Mapping[str, Came]) -> str:
        """How many tests passed, failed, were skipped."""
        counts = Counter[str]()
        for each in came.values():
            counts.update({what: int(n) for n, what in _COUNTS.findall(each["said"])})
        return "tests: " + ", ".join(f"{n} {what}" for what, n in counts.items())


def _counted(came: Mapping[str, int]) -> list[str]:
    """What came, once each; the same command may have been tried with other arguments."""
    return [what if n == 1 else f"{what} in each of {n} forms" for what, n in came.items()]
