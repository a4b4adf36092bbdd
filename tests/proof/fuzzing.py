"""Readers, loaders, endpoints and configs under millions of inputs that nobody would write."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.proof.part import Came, Part, Row, Tried

PROJECT = Path(__file__).parents[2]
INPUTS = 5_000_000
_OF_ITEM = 25_000
"""Inputs of an item, some minutes at most."""
_FEW = 150
"""Inputs of each target in the short form."""
_ALL = "all targets"
_LONGEST = 3600.0
"""Seconds after which a process hangs in what no signal ends."""
_SHOWN = 200
"""Characters of what was found on the page; the input is in the folder of the part."""


class FuzzingPart(Part):
    """All targets have the same number of inputs, an item a part of those of one.

    Each goes on with the inputs that the items before it have kept. An item is a process of its
    own, so one that ends it is found, too.
    """

    title = "Inputs that nobody would write"
    says = (
        f"{INPUTS:,} inputs, an equal share for each target of `tests/fuzzing`: a reader of each "
        "format that is registered, loaders, endpoints of both services, settings and configs. "
        "They are made by mutation of valid ones, and those that reach a new line of the package "
        "are mutated further. Each is accepted, or refused by an error of the package (by spaCy's "
        "own for a config), within 5 seconds of the processor and 64 MB. What was once found is a "
        "test."
    )

    def items(self, tried: Tried) -> list[str]:
        from tests.fuzzing.targets import targets

        if tried.is_short:
            return [_ALL]
        n_rounds = -(-INPUTS // (_OF_ITEM * len(targets())))
        return [f"{name} {number}" for number in range(1, n_rounds + 1) for name in targets()]

    def attempt(self, item: str, tried: Tried) -> Came:
        from tests.fuzzing.targets import targets

        if item == _ALL:
            return {"outcomes": _fuzzed(list(targets()), _FEW, 1, tried.folder)}
        name, _, number = item.rpartition(" ")
        return {"outcomes": _fuzzed([name], _OF_ITEM, int(number), tried.folder)}

    def rows(self, came: Mapping[str, Came]) -> list[Row]:
        """A row of each target, and one of each defect."""
        of_target: dict[str, list[Came]] = {}
        for each in came.values():
            for outcome in each["outcomes"]:
                of_target.setdefault(outcome["target"], []).append(outcome)
        found = [
            Row(f"{name}, {kind}", said[:_SHOWN], is_gap=True)
            for name, outcomes in of_target.items()
            for kind, said in {k: s for one in outcomes for k, s in one["found"].items()}.items()
        ]
        return [
            *(Row(f"`{name}`", _summary(outcomes)) for name, outcomes in of_target.items()),
            *found,
        ]

    def summary(self, came: Mapping[str, Came]) -> str:
        """Of all inputs."""
        return _summary([outcome for each in came.values() for outcome in each["outcomes"]])


def _fuzzed(names: list[str], n_inputs: int, seed: int, folder: Path) -> list[Came]:
    """The outcomes of targets, by a process of its own; of those that it did not come to none."""
    file = folder / "outcomes.jsonl"
    file.unlink(missing_ok=True)
    command = [sys.executable, "-m", "tests.fuzzing.run", *names]
    options = ["--inputs", n_inputs, "--seed", seed, "--corpus", folder, "--outcomes", file]
    try:
        ran = subprocess.run(
            [*command, *map(str, options)], cwd=PROJECT, capture_output=True, text=True,
            timeout=_LONGEST,
        )  # fmt: skip
        ended, said = f"the process ended with {ran.returncode}", ran.stderr
    except subprocess.TimeoutExpired:
        ended, said = "the process hangs", ""
    lines = file.read_text(encoding="utf8").splitlines() if file.exists() else []
    outcomes: list[Came] = list(map(json.loads, lines))
    if len(outcomes) < len(names):
        outcomes.append(
            _lost(names[len(outcomes)], n_inputs, seed, folder, f"{ended} {said[-500:]}")
        )
    return outcomes


def _lost(name: str, n_inputs: int, seed: int, folder: Path, ended: str) -> Came:
    """The outcome of a target whose process ended; the input at hand is kept."""
    from tests.fuzzing.run import Outcome, keep, present

    if (folder / f"{name}-present").exists():
        keep(present(folder, name), folder / f"{name}-found")
    return vars(Outcome(name, seed, n_inputs, found={"the process": ended}))


def _summary(outcomes: Iterable[Came]) -> str:
    outcomes = list(outcomes)
    inputs, accepted, refused, kept = (
        sum(one[count] for one in outcomes) for count in ("inputs", "accepted", "refused", "kept")
    )
    others = inputs - accepted - refused
    slowest, memory = (max(one[name] for one in outcomes) for name in ("slowest", "memory"))
    return (
        f"{inputs:,} inputs: {accepted:,} accepted, {refused:,} refused, {others:,} with another "
        f"error; {kept:,} reached something new; at most {slowest:.2f} s and {memory / 1e6:.0f} MB "
        "for one"
    )
