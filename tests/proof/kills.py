"""Kills of all that writes files, and other disturbances: nothing is lost, doubled or cut."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from tests.proof.killing import backend, chains, disturbed
from tests.proof.killing.kinds import KINDS, TRAIN, Kind
from tests.proof.part import Came, Part, Row, Tried

_KINDS = {kind.name: kind for kind in (*KINDS, backend.KIND, TRAIN)}
_LOADS = ("spacy.load", "Annotator")
_SHOWN = 3
"""Problems in a row of the page."""
_LONGEST = 300
"""Characters of a problem there."""


class Disturbance(NamedTuple):
    """What is done to calls of some names.

    attempt: with a name, so many times, by a seed, in a folder. short: the names of the short form.
    n_items, n_each: how often in all. n_short: how often in the short form. row: what was tried,
    and what came of it, of the sums of what came of all items.
    """

    attempt: Callable[[str, int, int, Path], Came]
    names: Sequence[str]
    n_items: int
    n_each: int
    short: Sequence[str]
    n_short: int
    row: Callable[[str, Counter[str]], tuple[str, str]]


def _kill(name: str, n: int, seed: int, folder: Path) -> Came:
    if name == backend.KIND.name:
        return backend.kill(n, seed, folder)
    return chains.kill(_KINDS[name], n, seed, folder)


def _by_kind(attempt: Callable[[Kind, int, int, Path], Came]) -> Callable[..., Came]:
    return lambda name, n, seed, folder: attempt(_KINDS[name], n, seed, folder)


def _replaced(name: str, n: int, seed: int, folder: Path) -> Came:
    return disturbed.replaced(_KINDS["save_pipeline"], name, n, folder)


def _of_kills(name: str, sums: Counter[str]) -> tuple[str, str]:
    return (
        f"`kill -9` at {sums['kills']} random moments of `{name}`",
        f"no file was cut, lost or doubled ({sums['within']} kills came while one was written); "
        f"{sums['ends']} runs went on to their end, with the bytes of one that was never killed",
    )


def _of_clocks(name: str, sums: Counter[str]) -> tuple[str, str]:
    return (
        f"a clock that jumps, during `{name}`, with {sums['kills']} kills",
        f"the same bytes at the end of {sums['ends']} runs as by a clock that goes right",
    )


def _of_pairs(name: str, sums: Counter[str]) -> tuple[str, str]:
    refused, both = sums["refused"], sums["tries"] - sums["refused"]
    return (
        f"`{name}` twice at once in the same place, {sums['tries']} times",
        f"one was refused {refused} times, both did the same {both} times; the bytes "
        "are those of one alone",
    )


def _of_disks(name: str, sums: Counter[str]) -> tuple[str, str]:
    return (
        f"`{name}` {sums['tries']} times with too little room on a file system in memory",
        f"{sums['refused']} times an error that says so, the old files intact; with enough room "
        "the same call has the bytes of one that was never disturbed",
    )


def _of_loads(name: str, sums: Counter[str]) -> tuple[str, str]:
    whole, loads = sums["whole"], sums["loads"]
    return (
        f"`{name}` {loads} times while `save_pipeline` replaces the pipeline all the time",
        f"{whole} whole pipelines, {sums['refused']} errors that say so, {sums['mixed']} of two "
        "pipelines",
    )


DISTURBANCES = {
    "kills": Disturbance(
        _kill,
        [name for name in _KINDS if name != TRAIN.name],
        10, 10, ("convert", "save_pipeline", "label-studio"), 2, _of_kills,
    ),
    "two at once": Disturbance(
        _by_kind(disturbed.two_at_once),
        ("annotate", "convert", "words make", "init --auto", "save_pipeline"),
        2, 5, ("save_pipeline",), 2, _of_pairs,
    ),
    "replaced": Disturbance(_replaced, _LOADS, 2, 200, ("Annotator",), 20, _of_loads),
    "clock": Disturbance(
        _by_kind(disturbed.jumping_clock),
        (TRAIN.name, "annotate", "convert", "words make", "init --auto", "label-studio"),
        2, 5, (), 0, _of_clocks,
    ),
    "full disk": Disturbance(
        _by_kind(disturbed.full_disk),
        ("annotate", "annotate --processes 2", "words make", "init --auto"),
        2, 5, (), 0, _of_disks,
    ),
}  # fmt: skip


class KillsPart(Part):
    """Everything that writes files, disturbed."""

    title = "Kills, and what else disturbs"
    says = (
        "Commands and saving are killed at random moments, while they also pause around each step "
        "of writing, and are called again: a file has its old or its new bytes, and at the end "
        "there are those of a run that nobody disturbed. The backend of Label Studio keeps what it "
        "confirmed, once. Two processes at once in the same place, a pipeline that is replaced "
        "while it is loaded, a clock that jumps by hours and years, and a full disk do no more "
        "harm. Kills of `spacy train` with checkpoints and full disks of the other commands are "
        "among the rows of `tests/robustness`. Two trainings with the same checkpoint or output "
        "are not promised, nor that `spacy.load` reads one pipeline alone while it is replaced."
    )

    def items(self, tried: Tried) -> list[str]:
        if tried.is_short:
            return [
                f"{what}, {name}, 1" for what, each in DISTURBANCES.items() for name in each.short
            ]
        return [
            f"{what}, {name}, {number}"
            for what, each in DISTURBANCES.items()
            for name in each.names
            for number in range(1, each.n_items + 1)
        ]

    def attempt(self, item: str, tried: Tried) -> Came:
        what, name, _ = item.split(", ")
        each, folder = DISTURBANCES[what], tried.folder / "at work"
        shutil.rmtree(folder, ignore_errors=True)
        n = each.n_short if tried.is_short else each.n_each
        came = each.attempt(name, n, crc32(item.encode()), folder)
        shutil.rmtree(folder, ignore_errors=True)
        return came

    def rows(self, came: Mapping[str, Came]) -> list[Row]:
        return [
            self._row(what, name, of_name)
            for what, each in DISTURBANCES.items()
            for name in each.names
            if (
                of_name := [
                    one for item, one in came.items() if item.startswith(f"{what}, {name}, ")
                ]
            )
        ]

    def summary(self, came: Mapping[str, Came]) -> str:
        """Of all disturbances."""
        sums = _sums(came.values())
        n_problems = sum(len(one["problems"]) for one in came.values())
        return (
            f"{sums['kills']:,} kills, {sums['within']:,} of them while a file was written, "
            f"{sums['tries']:,} calls beside others or without room, {sums['loads']:,} loads of a "
            f"pipeline that is replaced: {n_problems or 'none'} not as promised"
        )

    def _row(self, what: str, name: str, came: Sequence[Came]) -> Row:
        problems = [problem for one in came for problem in one["problems"]]
        text, found = DISTURBANCES[what].row(name, _sums(came))
        if problems:
            shown = "; ".join(one[-_LONGEST:] for one in problems[:_SHOWN])
            found = f"{len(problems)} not as promised: {shown}"
        return Row(text, found, bool(problems))


def _sums(came: Iterable[Came]) -> Counter[str]:
    sums = Counter[str]()
    for one in came:
        sums.update({key: n for key, n in one.items() if isinstance(n, int)})
    return sums
