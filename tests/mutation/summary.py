"""Score by folder: `python -m tests.mutation.summary mutation.jsonl` writes the results file.

Folders of which no mutant was tried keep their figures. The table in
benchmarks/results/robustness.md is made from the file by `benchmarks.reports.readme_tables`.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.lib.machine import describe_machine
from tests.mutation.operators import mutants
from tests.mutation.run import GROUPS, PROJECT, equivalent, modules

RESULTS = PROJECT / "benchmarks/results/mutation.json"


def folder_of(mutant: str) -> str:
    """The folder of a mutant's module, by its name."""
    return str(Path(mutant.split(" ", 1)[0]).parent)


def summary(trials: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each folder how many mutants there are, were tried, killed and run by no test.

    And the names of those that survived.
    """
    latest = {trial["mutant"]: trial["outcome"] for trial in trials}
    known = equivalent()
    all_names = {  # a set, because a module may belong to two groups
        mutant.name
        for group in GROUPS.values()
        for file in modules(group)
        for mutant in mutants(str(file.relative_to(PROJECT)), file.read_text(encoding="utf8"))
    }
    n_mutants = Counter(map(folder_of, all_names))
    rows = []
    for folder in sorted({folder_of(name) for name in latest}):
        tried = {
            name: outcome
            for name, outcome in latest.items()
            if folder_of(name) == folder and name not in known
        }
        outcomes = Counter(tried.values())
        rows.append(
            {
                "folder": folder,
                "mutants": n_mutants[folder],
                "tried": outcomes.total(),
                "killed": outcomes["killed"],
                "untested": outcomes["untested"],
                "equivalent": sum(folder_of(name) == folder for name in known),
                "survived": sorted(name for name in tried if tried[name] == "survived"),
            }
        )
    return rows


def merged(before: list[dict[str, Any]], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows, and those before of other folders, by folder."""
    by_folder = {row["folder"]: row for row in [*before, *rows]}
    return [by_folder[folder] for folder in sorted(by_folder)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    options = parser.parse_args()
    lines = [line for file in options.files for line in file.read_text("utf8").splitlines()]
    trials = [json.loads(line) for line in lines]
    before, rows = json.loads(RESULTS.read_text(encoding="utf8")), summary(trials)
    found = {
        "machine": describe_machine(),
        "seeds": sorted({*before["seeds"], *(trial["seed"] for trial in trials)}),
        "groups": merged(before["groups"], rows),
    }
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf8")


if __name__ == "__main__":
    main()
