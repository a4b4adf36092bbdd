"""Mutants: the package with one small change each, which its tests should notice."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from itertools import pairwise
from math import ceil
from typing import NamedTuple

from tests.mutation.groups import GROUPS, PROJECT, folder_of, is_core
from tests.mutation.operators import number_of_mutants
from tests.mutation.run import equivalent
from tests.mutation.samples import Stratum, estimate, needed
from tests.proof.part import FAILED, Came, Part, Row, Tried
from tests.support.imports import PACKAGE

CORE, REST = "the core", "`systems` and `tools`"
GOALS = {CORE: 0.97, REST: 0.9}
"""The least share of mutants that should be killed."""
ASSUMED = {CORE: 0.95, REST: 0.85}
"""Samples are large enough for it: intervals are no wider where a goal is just missed."""
_OF_PART, _OF_FOLDER = 0.01, 0.03
"""Half the widths of intervals of 95 %."""
_FEWEST = 2
"""Mutants of a group, of which one alone says nothing of how much they differ."""
_SIZE = 300
"""Mutants of an item. Its tests run once before them, which should not take longest."""
_SHORT = {"storage": 15}
_SECONDS = 20
"""Of the tests of a mutant, the fast ones first."""
_PATIENCE = 3 * 3600
"""Seconds of an item, of which a test may wait for ever."""
_LONGEST = 2000
"""Characters of the output of tests that fail without a mutant."""


class Chunk(NamedTuple):
    """Some mutants of a group, in the order of its sample."""

    group: str
    first: int
    n: int

    @property
    def item(self) -> str:
        """Its name. It is another item when the tests of the group have changed."""
        return f"{self.group} {self.first + 1}-{self.first + self.n}, tests {tests_of(self.group)}"


@cache
def tests_of(group: str) -> str:
    """A digest of the tests of a group."""
    digest = sha256()
    for path in GROUPS[group].paths():
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.hexdigest()[:8]


@cache
def seed() -> int:
    """Of all samples. Other code has others: tests are made for survivors of those before."""
    digest = sha256()
    for file in sorted(PACKAGE.rglob("*.py")):
        digest.update(file.read_bytes())
    return int.from_bytes(digest.digest()[:4], "little")


@cache
def sizes() -> dict[str, int]:
    """How many mutants each group has that has some."""
    found = {
        name: sum(number_of_mutants(file.read_text("utf8")) for file in group.modules)
        for name, group in GROUPS.items()
    }
    return {name: n for name, n in found.items() if n}


def part_of(group: str) -> str:
    return CORE if is_core(group) else REST


def planned(sizes: Mapping[str, int]) -> dict[str, int]:
    """How many mutants of each group to try; sizes: how many it has.

    All groups of a folder give the same share of their mutants: what the folder needs, or what the
    core or the rest needs, if that is more.
    """
    of_part, of_folder = _summed(sizes, part_of), _summed(sizes, folder_of)
    found = {}
    for group, n in sizes.items():
        assumed = ASSUMED[part_of(group)]
        share = max(
            needed(all_of_it, assumed, half_width) / all_of_it
            for all_of_it, half_width in (
                (of_part[part_of(group)], _OF_PART),
                (of_folder[folder_of(group)], _OF_FOLDER),
            )
        )
        found[group] = min(n, max(_FEWEST, ceil(share * n)))
    return found


def _summed(sizes: Mapping[str, int], key: Callable[[str], str]) -> Counter[str]:
    found = Counter[str]()
    for group, n in sizes.items():
        found[key(group)] += n
    return found


def chunks(tried: Tried) -> dict[str, Chunk]:
    """The chunks of all samples, by their names."""
    samples = _SHORT if tried.is_short else planned(sizes())
    found = [chunk for group, n in samples.items() for chunk in _in_chunks(group, n)]
    return {chunk.item: chunk for chunk in found}


def _in_chunks(group: str, n: int) -> Iterator[Chunk]:
    """As few as can be, of equal sizes."""
    n_chunks = ceil(n / _SIZE)
    bounds = [n * i // n_chunks for i in range(n_chunks + 1)]
    for first, last in pairwise(bounds):
        yield Chunk(group, first, last - first)


class MutationPart(Part):
    """A random sample of mutants of each group of modules, in chunks."""

    title = "Tests that notice a change"
    says = (
        "The package is changed in one small place, such as `<` to `<=`, a statement or a lock "
        "that is left out, or a piece of a key; then the tests of that place should fail, which "
        "kills the mutant. Random samples of each folder, with half the width of the interval of "
        "95 %. The goal is 97 % in the core, and 90 % in `systems` and `tools`. Mutants that do "
        "what the package does are listed with the reason in `tests/mutation/equivalent.txt`, and "
        "do not count. The file of results names the mutants that survived."
    )

    def items(self, tried: Tried) -> list[str]:
        return list(chunks(tried))

    def attempt(self, item: str, tried: Tried) -> Came:
        """In a process of its own, which has the environment of the group."""
        chunk, output = chunks(tried)[item], tried.folder / "trials.jsonl"
        output.write_text("", encoding="utf8")
        command = [
            sys.executable, "-m", "tests.mutation.run", chunk.group, "--seed", str(seed()),
            "--first", str(chunk.first), "--mutants", str(chunk.n),
            "--seconds", str(_SECONDS), "--output", str(output),
        ]  # fmt: skip
        try:
            ran = subprocess.run(
                command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                timeout=_PATIENCE,
            )  # fmt: skip
            failed = ran.stdout[-_LONGEST:] if ran.returncode else ""
        except subprocess.TimeoutExpired as error:
            failed = str(error)
        trials = map(json.loads, output.read_text(encoding="utf8").splitlines())
        outcomes = {trial["mutant"]: trial["outcome"] for trial in trials}
        missed = {name: came for name, came in outcomes.items() if came != "killed"}
        return {
            "group": chunk.group,
            "killed": len(outcomes) - len(missed),
            "missed": missed,
            FAILED: failed,
        }

    def rows(self, came: Mapping[str, Came]) -> list[Row]:
        """The core and the rest, once all of it was tried; each folder; tests that fail."""
        strata = strata_of(came)
        found = list(_of_parts(strata))
        for folder in sorted(set(map(folder_of, strata))):
            groups = [group for group in strata if folder_of(group) == folder]
            share, half_width = estimate([strata[group] for group in groups])
            # A sample of a folder is too small to say that it is just below the goal.
            is_below = share + half_width < GOALS[part_of(folder)]
            found.append(_row(f"`{folder}`", groups, strata, is_below))
        failed = [item for item, each in came.items() if each[FAILED]]
        return found + [Row(item, "**its tests fail without a mutant**", True) for item in failed]

    def summary(self, came: Mapping[str, Came]) -> str:
        """Of the core and the rest, or where not all was tried of the folders."""
        rows = list(_of_parts(strata_of(came))) or self.rows(came)
        return "; ".join(f"{row.tried}: {row.found}" for row in rows)

    def listed(self, came: Mapping[str, Came]) -> list[str]:
        """Mutants that survived, and which of them no test has run."""
        known = equivalent()
        return sorted(
            name + (" (run by no test)" if outcome == "untested" else "")
            for each in came.values()
            for name, outcome in each["missed"].items()
            if not each[FAILED] and name not in known
        )


def strata_of(came: Mapping[str, Came]) -> dict[str, Stratum]:
    """For each group how many of its mutants were tried and killed; without equivalent ones."""
    known = equivalent()
    killed, missed = Counter[str](), Counter[str]()
    for each in came.values():
        if not each[FAILED]:
            killed[each["group"]] += each["killed"]
            missed[each["group"]] += sum(name not in known for name in each["missed"])
    return {
        group: Stratum(sizes()[group], killed[group] + missed[group], killed[group])
        for group in GROUPS
        if killed[group] + missed[group]
    }


def _of_parts(strata: Mapping[str, Stratum]) -> Iterator[Row]:
    """The core and the rest, each once all of its groups were tried."""
    for part, goal in GOALS.items():
        groups = [group for group in sizes() if part_of(group) == part]
        if strata.keys() >= set(groups):
            share, _ = estimate([strata[group] for group in groups])
            yield _row(part, groups, strata, share < goal)


def _row(name: str, groups: Sequence[str], strata: Mapping[str, Stratum], is_gap: bool) -> Row:
    of_groups = [strata[group] for group in groups]
    share, half_width = estimate(of_groups)
    files = {str(file.relative_to(PROJECT)) for group in groups for file in GROUPS[group].modules}
    n_equivalent = sum(mutant.partition(" ")[0] in files for mutant in equivalent())
    return Row(
        f"{name}: {sum(each.tried for each in of_groups):,} of "
        f"{sum(each.mutants for each in of_groups):,} mutants",
        f"{100 * share:.1f} % ± {100 * half_width:.1f} % killed"
        + (f"; {n_equivalent} are listed as equivalent" if n_equivalent else ""),
        is_gap,
    )
