"""Kills of the proof: they see what is lost, cut, doubled and other than it was."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.proof.killing.chains import Chain, kill_often
from tests.proof.killing.kinds import KINDS, Kind
from tests.proof.kills import DISTURBANCES, KillsPart
from tests.proof.part import Tried
from tests.support.forked import Call

CALL = Call("module:function", ())
WHOLE = b"whole"


class Simulated:
    """Stands for `Forked`: each call does what the next of its turns says, and takes a second."""

    def __init__(self, output: Path, *turns: dict[str, bytes] | None) -> None:
        self._output, self._turns = output, list(turns)

    def run(self, call: Call, after: float | None = None) -> tuple[int, float]:
        """Turns: files that a process has when it is killed; None: it comes to its end."""
        turn = self._turns.pop(0) if self._turns and after is not None else None
        for name, data in ({"out": WHOLE} if turn is None else turn).items():
            (self._output / name).write_bytes(data)
        return (0 if turn is None else -9), 1.0

    def said(self) -> str:
        return ""


def chain_of(folder: Path, *turns: dict[str, bytes] | None, **options: Any) -> Chain:
    """A chain of a kind that replaces `out`."""
    (folder / "inputs").mkdir(parents=True)

    def before(inputs: Path, output: Path) -> None:
        (output / "out").write_bytes(b"old")

    kind = Kind("kind", lambda i, o: CALL, (), before, **options)
    forked: Any = Simulated(folder / "output", *turns)
    return Chain(kind, folder, forked, forked)


def test_files_that_are_old_or_new_are_as_promised(tmp_path: Path) -> None:
    chain = chain_of(tmp_path, {}, {"out": WHOLE}, {".out.half": b"wh"}, None, {})
    came = kill_often(chain, 4, 1)
    assert came == {"kills": 4, "within": 1, "ends": 2, "problems": [], "takes": 1.0}


def test_a_file_that_is_cut_is_seen(tmp_path: Path) -> None:
    came = kill_often(chain_of(tmp_path, {"out": b"wh"}), 1, 1)
    assert came["problems"] == ["out is neither the old one nor the new one"]


def test_what_is_left_at_the_end_is_seen(tmp_path: Path) -> None:
    came = kill_often(chain_of(tmp_path, {"work": b""}, passing=("work",)), 1, 1)
    assert came["problems"] == ["at its end there are other bytes in work"]


def test_lines_with_seconds_are_counted(tmp_path: Path) -> None:
    """So what is doubled is seen, too."""
    kind = Kind("kind", lambda i, o: CALL, (), timed=("log",))
    found = []
    for text in ("a 1\nb 2\n", "a 3\nb 4\n", "a 1\na 1\nb 2\n"):
        (tmp_path / "log").write_text(text)
        found.append(kind.contents(tmp_path))
    assert found[0] == found[1] != found[2]


def test_a_folder_is_one_whole_wherever_it_stands(tmp_path: Path) -> None:
    kind = Kind("kind", lambda i, o: CALL, (), wholes=("a/model",))
    (tmp_path / "a" / "model").mkdir(parents=True)
    (tmp_path / "a" / "model" / "x").write_text("x")
    (tmp_path / "a" / "other").write_text("x")
    there = kind.contents(tmp_path)
    assert there.keys() == {"a/model", "a/other"}
    os.rename(tmp_path / "a" / "model", tmp_path / "a" / ".model.replaced")
    assert kind.contents(tmp_path) == there
    (tmp_path / "a" / "model").mkdir()
    (tmp_path / "a" / "model" / "y").write_text("y")
    assert kind.contents(tmp_path)["a/model"] != there["a/model"]


def test_there_are_a_hundred_kills_of_each_kind(tmp_path: Path) -> None:
    part = KillsPart()
    items = part.items(Tried(tmp_path, is_short=False))
    assert len(items) == len(set(items))
    kills = DISTURBANCES["kills"]
    assert kills.n_items * kills.n_each == 100
    assert set(kills.names) == {*(kind.name for kind in KINDS), "label-studio"}
    for name in kills.names:
        assert sum(item.startswith(f"kills, {name}, ") for item in items) == kills.n_items
    assert set(part.items(Tried(tmp_path, is_short=True))) <= set(items)


def test_rows_sum_items_and_show_what_is_not_as_promised() -> None:
    part, came = KillsPart(), {"kills": 10, "within": 2, "ends": 3, "problems": []}
    good = {f"kills, annotate, {i}": came for i in (1, 2)}
    bad = {"kills, annotate --processes 2, 1": {**came, "problems": ["out is gone"]}}
    first, second = part.rows({**good, **bad})
    assert (first.tried, first.is_gap) == ("`kill -9` at 20 random moments of `annotate`", False)
    assert "(4 kills came while one was written); 6 runs" in first.found
    assert (second.found, second.is_gap) == ("1 not as promised: out is gone", True)
    assert part.summary({**good, **bad}).startswith("30 kills, 6 of them while")
    assert part.summary({**good, **bad}).endswith(": 1 not as promised")
    assert part.summary(good).endswith(": none not as promised")


@pytest.mark.parametrize("name", DISTURBANCES)
def test_each_disturbance_has_a_row(name: str) -> None:
    each = DISTURBANCES[name]
    items = {f"{name}, {of}, 1": {"problems": []} for of in each.names}
    assert len(KillsPart().rows(items)) == len(each.names)
    assert {*each.short} <= {*each.names}


def test_moments_are_seeded(tmp_path: Path) -> None:
    seen: list[list[float]] = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        chain = chain_of(folder, {}, {}, {})
        run, moments = chain._forked.run, list[float]()

        def noted(call: Call, after: float, run: Any = run, to: list[float] = moments) -> Any:
            to.append(after)
            return run(call, after)

        chain._forked.run = noted  # type: ignore[method-assign,assignment]
        generator = np.random.default_rng(5)
        for _ in range(3):
            chain.kill(generator)
        seen.append(moments)
    assert seen[0] == seen[1]
    assert len(set(seen[0])) == 3
