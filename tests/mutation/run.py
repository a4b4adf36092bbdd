"""Mutation tests of a group by hand: `python -m tests.mutation.run GROUP --mutants 200`.

A mutant is the package with one small change (`operators.py`). The tests kill it if one of them
fails. The score is the share of mutants that are killed, without those that `equivalent.txt` lists
because they do what the package does. Without `--mutants` all are tried. The tests are also given
the package as it is, like two more mutants: what they find then is no sign of a mutant.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from tests.mutation.groups import GROUPS, LEFT_OUT, PROJECT
from tests.mutation.operators import UNCHANGED, Mutant, mutants

if TYPE_CHECKING:
    from tests.mutation.trials import Trial

EQUIVALENT = Path(__file__).parent / "equivalent.txt"
N_UNCHANGED = 2
"""How often the tests are given the package as it is."""


def equivalent() -> dict[str, str]:
    """The reason for each mutant that no test can kill, by its name: two lines of the file each."""
    lines = [line for line in EQUIVALENT.read_text(encoding="utf8").splitlines() if line.strip()]
    return dict(zip(lines[::2], map(str.strip, lines[1::2]), strict=True))


def survivors(file: Path) -> set[str]:
    """The names of mutants that no test has killed, from the lines that `tell` has written."""
    trials = map(json.loads, file.read_text(encoding="utf8").splitlines())
    latest = {trial["mutant"]: trial["outcome"] for trial in trials}
    return {name for name, outcome in latest.items() if outcome != "killed"}


def in_order(files: Iterable[Path], seed: int) -> list[Mutant]:
    """All mutants of these modules, in an order that the seed gives.

    Two of them stay in their order when others come or go.
    """
    found = [
        mutant
        for file in files
        for mutant in mutants(str(file.relative_to(PROJECT)), file.read_text(encoding="utf8"))
    ]
    return sorted(found, key=lambda each: sha256(f"{seed} {each.name}".encode()).digest())


def choose(
    files: Iterable[Path], seed: int, first: int = 0, n: int | None = None, only: str = "",
    again: set[str] | None = None,
) -> list[Mutant]:  # fmt: skip
    """So many mutants, or all, from the first on in their order; without equivalent ones.

    only: a part of their names. again: the names of those to choose among.
    """
    found = [
        mutant
        for mutant in in_order(files, seed)
        if only in mutant.name and (again is None or mutant.name in again)
    ]
    known = equivalent()
    last = None if n is None else first + n
    return [mutant for mutant in found[first:last] if mutant.name not in known]


def report(trials: list[Trial]) -> str:
    """The score of each folder."""
    lines = []
    for folder in sorted({Path(trial.mutant.path).parent for trial in trials}):
        tried = [trial for trial in trials if Path(trial.mutant.path).parent == folder]
        lines.append(f"{folder}: {score(tried):.1%} of {len(tried)} mutants killed")
    return "\n".join(lines)


def score(trials: list[Trial]) -> float:
    """Share of the mutants that were killed."""
    return sum(trial.outcome == "killed" for trial in trials) / max(1, len(trials))


def tell(trial: Trial, seed: int, file: Path | None) -> None:
    """Print what survived, and append what came of each mutant to a file, a line of JSON each."""
    mutant, outcome, n_tests = trial
    if outcome != "killed":
        print(f"{outcome} ({n_tests} tests), line {mutant.line}: {mutant.name}", flush=True)
    if file is not None:
        kept = {"mutant": mutant.name, "operator": mutant.operator, "outcome": outcome}
        with file.open("a", encoding="utf8") as lines:
            print(json.dumps({**kept, "tests": n_tests, "seed": seed}), file=lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("group", choices=GROUPS)
    parser.add_argument("--mutants", type=int, help="how many to try; all if it is not given")
    parser.add_argument("--first", type=int, default=0, help="leave out so many before them")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**31)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="try the mutants whose name has this text")
    parser.add_argument("--again", type=Path, help="try those that survived in this file")
    parser.add_argument(
        "--seconds", type=float, default=10.0, help="of tests on a mutant; slower ones are left out"
    )
    parser.add_argument("--output", type=Path, help="append what came of each mutant to this file")
    options = parser.parse_args()
    group = GROUPS[options.group]
    os.environ.update(group.environment)  # before numba is imported
    import pytest

    from tests.mutation.trials import KILLED, Trials

    print(f"seed {options.seed}", flush=True)
    again = survivors(options.again) if options.again else None
    chosen = choose(
        group.modules, options.seed, options.first, options.mutants, options.only, again
    )
    unchanged = [mutant.undone() for mutant in chosen[:N_UNCHANGED]]
    done: list[Trial] = []

    def keep(trial: Trial) -> None:
        if trial.mutant.operator == UNCHANGED:
            if trial.outcome == KILLED:
                trials.failed.append(trial.mutant.name)
            return
        done.append(trial)
        tell(trial, options.seed, options.output)

    trials = Trials(list(group.modules), [*chosen, *unchanged], options.jobs, keep, options.seconds)
    tests = [str(path) for path in group.paths()]
    left_out = [f"--deselect={name}" for name in LEFT_OUT]
    status = pytest.main(
        ["-p", "no:cacheprovider", "-q", "-m", group.marks, *left_out, *tests], [trials]
    )
    if status != 0 or trials.failed:
        sys.exit(f"Tests fail without a mutant: {', '.join(trials.failed) or status}")
    print(report(done))
    print(f"The tests took {trials.learning:.0f} s, their mutants {trials.trying:.0f} s.")


if __name__ == "__main__":
    main()
