"""Writes `docs/robustness.md` from the results of the proof: `python -m tests.proof.page`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.reports.markdown import table
from tests.proof.parts import PARTS
from tests.proof.run import PROJECT, RESULTS

PAGE = PROJECT / "docs/robustness.md"
_HEAD = """# Robustness

What this package promises about [files, texts, processes](../SECURITY.md) and [when something goes
wrong](limits.md#when-something-goes-wrong), tried by one command, `python -m nox -s proof`, which has made this page. It
goes on where it was stopped, and takes some nights on two cores. Each part runs alone by its name, and a little of each,
`-- --short`, in the gate of each change. What is not as promised stands in bold type.
"""


def page(results: Mapping[str, Any]) -> str:
    """The page; parts without results are left out."""
    parts = [_part(name, results[name]) for name in PARTS if name in results]
    return "\n".join([_HEAD, *parts])


def _part(name: str, result: Mapping[str, Any]) -> str:
    part, machine = PARTS[name], result["machine"]
    rows = [
        [f"**{row['tried']}**" if row["is_gap"] else row["tried"], row["found"]]
        for row in result["rows"]
    ]
    made = (
        f"`nox -s proof -- {name}` on {result['date']}, commit {result['commit']}, {result['hours']} "
        f"hours, {machine['processor']}, {machine['cores']} cores."
    )
    shown = table(["tried", "found"], rows).strip()
    return f"## {part.title}\n\n{part.says}\n\n{shown}\n\n{made}\n"


def main() -> None:
    results = json.loads(RESULTS.read_text(encoding="utf8"))
    PAGE.write_text(page(results), encoding="utf8")


if __name__ == "__main__":
    main()
