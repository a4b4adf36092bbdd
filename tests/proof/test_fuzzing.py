"""The proof by fuzzing: its items, what it says of outcomes, and processes that end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fuzzing.run import Outcome, present
from tests.fuzzing.targets import targets
from tests.proof import fuzzing
from tests.proof.fuzzing import INPUTS, FuzzingPart
from tests.proof.part import Tried


def outcome(**values: Any) -> dict[str, Any]:
    return vars(Outcome(**{"target": "a", "seed": 1, "inputs": 10, "accepted": 4, **values}))


def test_items_are_equal_shares_of_all_targets(tmp_path: Path) -> None:
    items = FuzzingPart().items(Tried(tmp_path, is_short=False))
    assert len(set(items)) == len(items)
    rounds = len(items) // len(targets())
    assert items == [f"{name} {i}" for i in range(1, rounds + 1) for name in targets()]
    assert 0 <= len(items) * fuzzing._OF_ITEM - INPUTS < fuzzing._OF_ITEM * len(targets())
    assert len(FuzzingPart().items(Tried(tmp_path, is_short=True))) == 1


def test_rows_add_up_and_what_was_found_is_a_gap() -> None:
    came = {
        "a 1": {"outcomes": [outcome(refused=6, slowest=0.5, memory=10**6)]},
        "a 2": {"outcomes": [outcome(refused=5, slowest=0.2, found={"KeyError at x": "said"})]},
        "b 1": {"outcomes": [outcome(target="b", refused=6)]},
    }
    first, second, gap = FuzzingPart().rows(came)
    assert (first.tried, second.tried) == ("`a`", "`b`")
    assert first.found.startswith("20 inputs: 8 accepted, 11 refused, 1 with another error;")
    assert first.found.endswith("at most 0.50 s and 1 MB for one")
    assert (gap.tried, gap.found, gap.is_gap) == ("a, KeyError at x", "said", True)
    assert FuzzingPart().summary(came).startswith("30 inputs: 12 accepted, 17 refused, 1 with")


def test_an_item_is_a_process_with_outcomes(tmp_path: Path) -> None:
    (came,) = fuzzing._fuzzed(["templates"], 20, 3, tmp_path)
    assert came["inputs"] == 20
    assert came["accepted"] + came["refused"] == 20
    assert not came["found"]
    assert present(tmp_path, "templates")


def test_a_process_that_ends_is_found_with_its_input(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "templates-present").write_bytes((3).to_bytes(8, "little") + b"abcdef")
    monkeypatch.setattr(fuzzing.sys, "executable", "false")
    (came,) = fuzzing._fuzzed(["templates", "words"], 20, 3, tmp_path)
    assert came["target"] == "templates"
    assert "the process ended with 1" in came["found"]["the process"]
    assert [path.read_bytes() for path in (tmp_path / "templates-found").iterdir()] == [b"abc"]
