"""Samples are as large as planned, and rows say what came of them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.mutation.groups import GROUPS, folder_of, is_core
from tests.mutation.run import equivalent
from tests.mutation.samples import Stratum, estimate
from tests.proof import mutants
from tests.proof.mutants import ASSUMED, CORE, REST, MutationPart, chunks, part_of, planned, sizes
from tests.proof.part import Came, Tried

FULL = Tried(Path("unused"), is_short=False)
KNOWN = next(iter(equivalent()))


def came(group: str, killed: int, missed: list[str], failed: str = "") -> Came:
    return {
        "group": group, "killed": killed, "missed": dict.fromkeys(missed, "survived"),
        "failed": failed,
    }  # fmt: skip


def names(n: int) -> list[str]:
    return [f"a.py f: {i}" for i in range(n)]


def half_width(groups: list[str], share: float) -> float:
    """That of a sample of which just this share is killed."""
    plan = planned(sizes())
    return estimate([Stratum(sizes()[g], plan[g], share * plan[g]) for g in groups])[1]


@pytest.mark.slow
def test_samples_are_large_enough() -> None:
    """As they are when just what was assumed is killed; the root of n - 1 in place of n."""
    core = [group for group in sizes() if is_core(group)]
    rest = [group for group in sizes() if not is_core(group)]
    assert half_width(core, ASSUMED[CORE]) < 0.0101
    assert half_width(rest, ASSUMED[REST]) < 0.0101
    for folder in set(map(folder_of, GROUPS)):
        of_folder = [group for group in sizes() if folder_of(group) == folder]
        assert half_width(of_folder, ASSUMED[part_of(folder)]) < 0.0305, folder


def test_chunks_make_up_the_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = {"storage": 2, "losses": 300, "cli": 301, "root": 1000}
    monkeypatch.setattr(mutants, "sizes", dict)
    monkeypatch.setattr(mutants, "planned", lambda _: plan)
    found = chunks(FULL).values()
    assert {chunk.group for chunk in found} == set(plan)
    for group, n in plan.items():
        of_group = [chunk for chunk in found if chunk.group == group]
        places = [i for chunk in of_group for i in range(chunk.first, chunk.first + chunk.n)]
        assert places == list(range(n))
        assert max(chunk.n for chunk in of_group) - min(chunk.n for chunk in of_group) <= 1


def test_other_tests_make_another_item(monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(MutationPart().items(FULL))
    changed = {**dict.fromkeys(GROUPS, "same"), "cli": "other"}
    same = {**changed, "cli": "same"}
    monkeypatch.setattr(mutants, "tests_of", same.__getitem__)
    one = set(MutationPart().items(FULL))
    monkeypatch.setattr(mutants, "tests_of", changed.__getitem__)
    other = set(MutationPart().items(FULL))
    assert not before & one
    assert {item.partition(" ")[0] for item in one ^ other} == {"cli"}


def test_a_folder_that_is_surely_below_the_goal_is_a_gap() -> None:
    """The core as a whole has no row: only one folder of it was tried."""
    part = MutationPart()
    (row,) = part.rows({"a": came("cli", 40, names(1)), "b": came("cli", 41, [])})
    assert (row.tried, row.is_gap) == (f"`cli`: 82 of {sizes()['cli']:,} mutants", False)
    assert row.found.startswith("98.8 % ± 1.9 % killed")
    (row,) = part.rows({"a": came("cli", 60, names(22))})
    assert row.is_gap


def test_the_core_and_the_rest_are_gaps_below_their_goals() -> None:
    part, plan = MutationPart(), planned(sizes())
    for share, is_gap in ((0.02, False), (0.04, True)):
        missed = {group: round(n * share) for group, n in plan.items() if is_core(group)}
        tried = {g: came(g, plan[g] - n, names(n)) for g, n in missed.items()}
        core, *folders = part.rows(tried)
        assert core.tried.startswith("the core: ")
        assert core.is_gap == is_gap
        assert len(folders) == len(set(map(folder_of, tried)))
        assert part.summary(tried) == f"{core.tried}: {core.found}"


def test_what_is_listed_as_equivalent_later_does_not_count() -> None:
    part, tried = MutationPart(), {"a": came("cli", 40, [KNOWN, *names(1)])}
    (row,) = part.rows(tried)
    assert row.tried.startswith("`cli`: 41 of ")
    assert part.listed(tried) == names(1)


def test_tests_that_fail_without_a_mutant_are_a_gap() -> None:
    """What was killed by them says nothing."""
    part, tried = MutationPart(), {"a": came("cli", 40, names(2), failed="E   assert 1 == 2")}
    (row,) = part.rows(tried)
    assert row.is_gap
    assert "fail" in row.found
    assert part.listed(tried) == []


@pytest.mark.parametrize("status", [0, 1])
def test_an_item_keeps_what_came_of_its_mutants(
    status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And how the output ends where tests fail without a mutant."""
    tried = Tried(tmp_path, is_short=True)
    item, *_ = (item for item in MutationPart().items(tried) if item.startswith("storage "))

    def run(command: list[str], **options: object) -> CompletedProcess[str]:
        assert command[3:6] == ["storage", "--seed", str(mutants.seed())]
        trials = [("a", "killed"), ("b", "survived"), ("c", "untested"), ("d", "killed")]
        lines = [json.dumps({"mutant": name, "outcome": outcome}) for name, outcome in trials]
        Path(command[-1]).write_text("\n".join(lines) + "\n")
        return CompletedProcess(command, status, stdout="1 failed")

    monkeypatch.setattr(subprocess, "run", run)
    found = MutationPart().attempt(item, tried)
    assert (found["group"], found["killed"]) == ("storage", 2)
    assert found["missed"] == {"b": "survived", "c": "untested"}
    assert found["failed"] == ("1 failed" if status else "")
    listed = MutationPart().listed({item: found})
    assert listed == ([] if status else ["b", "c (run by no test)"])
