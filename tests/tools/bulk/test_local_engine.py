"""Processes that end before their shards are done: how often, and when a run gives up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spacy_cascade.errors import TrainingError
from spacy_cascade.processes import ProcessEnded
from spacy_cascade.tools.bulk import engines
from spacy_cascade.tools.bulk.engines import on_this_machine
from spacy_cascade.tools.bulk.plan import Shard
from spacy_cascade.tools.bulk.shards import LATE
from spacy_cascade.tools.bulk.sources.base import Range

SHARDS = [Shard(i, 0, Range(10 * i, 10, 0, 100)) for i in range(8)]


class Processes:
    """Stands for `run_in_processes`: all processes end after so many shards."""

    def __init__(self, *done: int) -> None:
        self.done = iter(done)

    def __call__(
        self, task: Any, arguments: Sequence[tuple[Shard]], *_: object
    ) -> Iterator[SimpleNamespace]:
        done = next(self.done, len(arguments))
        for (shard,) in arguments[:done]:
            yield SimpleNamespace(shard=shard.number)
        if done < len(arguments):
            task.note()
            raise ProcessEnded("A process ended.")


@pytest.fixture
def shards_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[int]]:
    """The shards that are done by processes that do so many before they end.

    late: places of the ends, from 0, that come of a record that took too long.
    """

    def do(*done: int, late: Sequence[int] = ()) -> list[int]:
        notes = tmp_path / LATE / "part-000000"
        notes.parent.mkdir(exist_ok=True)

        deaths = count()

        def note() -> None:
            with notes.open("a") as file:
                file.write("1 9\n" + "Timeout (0:00:01)!\n" * (next(deaths) in late))

        task: Any = SimpleNamespace(
            timeout=1.0, output=tmp_path, sources=[SimpleNamespace(name="a.txt")], note=note
        )
        monkeypatch.setattr(engines, "run_in_processes", Processes(*done))
        return [one.shard for one in on_this_machine(task, SHARDS, 2, lambda: None)]

    return do


def test_deaths_count_from_the_last_shard_that_was_done(
    shards_done: Callable[..., list[int]],
) -> None:
    assert shards_done(0, 0, 1, 0, 2, 0, 1, 0, 1) == list(range(8))


def test_three_deaths_in_a_row_end_the_run(shards_done: Callable[..., list[int]]) -> None:
    with pytest.raises(TrainingError, match=r"again and again.* a\.txt from record 11 to 20, a"):
        shards_done(1, 0, 0, 0)
    with pytest.raises(TrainingError, match=r"a\.txt from record 1 to 10, "):
        shards_done(0, 0, 0)


def test_records_that_take_too_long_do_not_end_the_run(
    shards_done: Callable[..., list[int]],
) -> None:
    assert shards_done(0, 0, 0, 0, 0, late=range(5)) == list(range(8))
    assert shards_done(0, 0, 0, 0, 0, late=[2]) == list(range(8))
    with pytest.raises(TrainingError):
        shards_done(0, 0, 0, 0, late=[0])


@pytest.mark.parametrize(
    ("processes", "timeout", "calls"),
    [(1, None, [0, "tick", 1, "tick"]), (2, None, []), (1, 9.0, [])],
)
def test_only_one_process_without_a_bound_on_time_is_this_one(
    processes: int,
    timeout: float | None,
    calls: list[int | str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[int | str] = []

    class Task(SimpleNamespace):
        def __call__(self, shard: Shard) -> Any:
            found.append(shard.number)
            return SimpleNamespace(shard=shard.number)

    monkeypatch.setattr(engines, "run_in_processes", Processes())
    task: Any = Task(timeout=timeout, output=tmp_path)
    done = on_this_machine(task, SHARDS[:2], processes, lambda: found.append("tick"))
    assert [one.shard for one in done] == [0, 1]
    assert found == calls
