"""Mutation tests: `python -m tests.mutation.run GROUP --mutants 200`.

A mutant is the package with one small change (`operators.py`). The tests kill it if one of them
fails. The score is the share of mutants that are killed, without those that `equivalent.txt` lists
because they do what the package does. Without `--mutants` all are tried.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from tests.mutation.operators import Mutant, mutants

if TYPE_CHECKING:
    from tests.mutation.trials import Trial

PROJECT = Path(__file__).parents[2]
EQUIVALENT = Path(__file__).parent / "equivalent.txt"


class Group(NamedTuple):
    """Modules that are changed, tests that guard them, both by patterns; environment variables.

    slow: the kinds of slow tests that guard them, too.
    """

    modules: tuple[str, ...]
    tests: tuple[str, ...]
    environment: dict[str, str]
    slow: tuple[str, ...] = ()

    @property
    def marks(self) -> str:
        """For the option `-m` of pytest."""
        return " or ".join(["not slow", *(f"slow(kind='{kind}')" for kind in self.slow)])


_PLAIN = {"NUMBA_DISABLE_JIT": "1"}
"""Kernels are plain Python, so that no mutant is compiled."""
_BOUNDS = {"NUMBA_BOUNDSCHECK": "1"}
"""Kernels notice arrays of a wrong length, for modules that only call them."""
GROUPS = {
    "numeric": Group(("numeric/*.py",), ("numeric",), _PLAIN),
    "features": Group(("features/*.py",), ("features",), _PLAIN),
    "inference": Group(
        ("inference/*.py",),
        (
            "inference",
            "systems/many_labels/test_many_labels.py",
            "trainers/test_passive_aggressive.py",
            "trainers/test_online_prior.py",
        ),
        _PLAIN,
    ),
    "losses": Group(
        ("losses/*.py", "penalties/*.py"),
        ("losses", "penalties", "trainers/test_objective.py"),
        _PLAIN,
    ),
    "trainers": Group(
        ("trainers/*.py",),
        ("trainers", "pipeline/test_online_training.py", "pipeline/test_training_runs.py"),
        _BOUNDS,
    ),
    "semi_markov": Group(("systems/semi_markov/*.py",), ("systems/semi_markov",), _PLAIN),
    "local": Group(("systems/local/*.py",), ("systems/local",), _PLAIN),
    "higher_order": Group(("systems/higher_order/*.py",), ("systems/higher_order",), _PLAIN),
    "many_labels": Group(("systems/many_labels/*.py",), ("systems/many_labels",), _PLAIN),
    "isomeric": Group(("systems/isomeric/*.py",), ("systems/isomeric",), _BOUNDS),
    "induction": Group(("systems/induction/*.py",), ("systems/induction",), _BOUNDS),
    "word_window": Group(("systems/word_window/*.py",), ("systems/word_window",), _BOUNDS),
    "reranking": Group(
        ("systems/reranking/minimum_risk.py",),
        ("systems/reranking",),
        _PLAIN,
    ),
    "ensembles": Group(("systems/ensembles/*.py",), ("systems/ensembles",), _PLAIN),
    "workers": Group(("tools/scale/*.py",), ("tools/scale",), {}, ("workers",)),
    "storage": Group(("storage/*.py",), ("storage",), {}),
    "checkpoints": Group(("tools/checkpoints/*.py",), ("tools/checkpoints",), {}),
    "pipeline": Group(("pipeline/*.py", "pipeline/spans/*.py"), ("pipeline",), {}),
    "scorers": Group(
        ("pipeline/scorers.py",),
        ("pipeline/test_component_scores.py", "pipeline/test_scores_of_types.py"),
        {},
    ),
    "files": Group(
        ("checks.py", "files.py", "kernel_cache.py", "parallel.py"),
        (
            "test_checks.py",
            "test_files.py",
            "test_kernel_cache.py",
            "test_kernel_folders.py",
            "test_kernel_sources.py",
            "test_parallel.py",
        ),
        {},
    ),
}


def matching(folder: Path, patterns: tuple[str, ...]) -> list[Path]:
    """Files and folders of a folder, by their patterns."""
    return sorted(path for pattern in patterns for path in folder.glob(pattern))


def modules(group: Group) -> list[Path]:
    """The files that a group changes."""
    return matching(PROJECT / "spacy_cascade", group.modules)


def equivalent() -> dict[str, str]:
    """The reason for each mutant that no test can kill, by its name: two lines of the file each."""
    lines = [line for line in EQUIVALENT.read_text(encoding="utf8").splitlines() if line.strip()]
    return dict(zip(lines[::2], map(str.strip, lines[1::2]), strict=True))


def survivors(file: Path) -> set[str]:
    """The names of mutants that no test has killed, from the lines that `tell` has written."""
    trials = map(json.loads, file.read_text(encoding="utf8").splitlines())
    latest = {trial["mutant"]: trial["outcome"] for trial in trials}
    return {name for name, outcome in latest.items() if outcome != "killed"}


def choose(
    files: list[Path], n: int | None, seed: int, only: str, again: set[str] | None = None
) -> list[Mutant]:
    """So many mutants, or all, in an order that the seed gives; without equivalent ones.

    only: a part of their names. again: the names of those to choose among.
    """
    known = equivalent()
    found = [
        mutant
        for file in files
        for mutant in mutants(str(file.relative_to(PROJECT)), file.read_text(encoding="utf8"))
        if mutant.name not in known
        and only in mutant.name
        and (again is None or mutant.name in again)
    ]
    Random(seed).shuffle(found)
    return found[:n]


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
    parser.add_argument("group", choices=sorted(GROUPS))
    parser.add_argument("--mutants", type=int, help="how many to try; all if it is not given")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**31)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="try the mutants whose name has this text")
    parser.add_argument("--again", type=Path, help="try those that survived in this file")
    parser.add_argument(
        "--seconds", type=float, default=10.0, help="of tests on a mutant; slower ones are left out"
    )
    parser.add_argument("--output", type=Path, help="append what came of each mutant to this file")
    parser.add_argument("--least", type=float, default=0.0, help="fail below this score")
    options = parser.parse_args()
    group = GROUPS[options.group]
    os.environ.update(group.environment)  # before numba is imported
    import pytest

    from tests.mutation.trials import Trials

    print(f"seed {options.seed}", flush=True)
    files = modules(group)
    again = survivors(options.again) if options.again else None
    chosen = choose(files, options.mutants, options.seed, options.only, again)
    done: list[Trial] = []

    def keep(trial: Trial) -> None:
        done.append(trial)
        tell(trial, options.seed, options.output)

    trials = Trials(files, chosen, options.jobs, keep, options.seconds)
    tests = [str(path) for path in matching(PROJECT / "tests", group.tests)]
    status = pytest.main(["-p", "no:cacheprovider", "-q", "-m", group.marks, *tests], [trials])
    if status != 0:
        sys.exit(f"Tests fail without a mutant: {', '.join(trials.failed) or status}")
    print(report(done))
    if score(done) < options.least:
        sys.exit(f"The score is {score(done):.1%}, and should be {options.least:.0%}.")


if __name__ == "__main__":
    main()
