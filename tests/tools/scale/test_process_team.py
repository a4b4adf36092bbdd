"""Workers as processes: the bits of the local loss, whatever becomes of the workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest

from helpers import take_interrupts
from sharding import SMALL_PIECE, objective, results, task
from spacy_cascade import TrainingError, parallel
from spacy_cascade.inference.structure import Structure
from spacy_cascade.losses.base import SequenceLosses
from spacy_cascade.losses.margin import SoftmaxMargin
from spacy_cascade.trainers.objective import Objective

SCRIPT = """
import sys, time, test_process_team as tests
if __name__ == "__main__":
    problem = tests.with_workers()
    try:
        tests.results(problem)
        print(*tests.team_of(problem).process_ids, flush=True)
        while True:
            tests.results(problem)
    except KeyboardInterrupt:
        sys.exit(3)
"""


@dataclass(frozen=True)
class Damaged(SoftmaxMargin):
    """Fails, or ends its process, where it is asked to."""

    kind: str = ""

    def on(self, structure: Structure) -> SequenceLosses:
        if self.kind == "end" and os.getpid() != DRIVER:
            os._exit(7)
        if self.kind == "fail" and os.getpid() != DRIVER:
            raise ZeroDivisionError("nothing can be divided by this")
        return super().on(structure)


DRIVER = int(os.environ.setdefault("TESTED_DRIVER", str(os.getpid())))


def with_workers(**settings: Any) -> Objective:
    parallel._SMALLEST_PIECE = SMALL_PIECE  # type: ignore[misc]
    return objective(task("pairs"), **{"workers": 2, **settings})


def team_of(problem: Objective) -> Any:
    return problem.loss._team  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The one for temporary files; nothing stays in it, and no process."""
    monkeypatch.setattr(parallel, "_SMALLEST_PIECE", SMALL_PIECE)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    before = set(active_children())
    yield tmp_path
    assert not set(active_children()) - before
    assert not list(tmp_path.glob("spacy_cascade-*"))


@pytest.mark.slow(kind="workers")
def test_the_bits_of_the_local_loss_also_after_workers_were_killed() -> None:
    problem, whole = with_workers(), objective(task("pairs"), parts=8)
    assert results(problem) == results(whole)
    first, second = team_of(problem).process_ids
    os.kill(first, signal.SIGKILL)
    assert results(problem, 1) == results(whole, 1)
    assert team_of(problem).process_ids[0] != first
    assert team_of(problem).process_ids[1] == second


@pytest.mark.slow(kind="workers")
def test_an_error_of_a_worker_is_one_of_the_package() -> None:
    damaged = replace(task("pairs"), loss=Damaged(kind="fail"))
    problem = objective(damaged, workers=2)
    with pytest.raises(TrainingError, match=r"ZeroDivisionError: nothing can be divided.*workers"):
        results(problem)
    assert team_of(problem).process_ids == [None, None]


@pytest.mark.slow(kind="workers")
def test_a_worker_that_always_ends_is_not_made_for_ever() -> None:
    problem = objective(replace(task("pairs"), loss=Damaged(kind="end")), workers=2)
    with pytest.raises(TrainingError, match=r"ended 3 times before it could answer \(exit code 7"):
        results(problem)


def started(folder: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """A driver, and the processes of its workers."""
    script = folder / "script.py"
    script.write_text(SCRIPT)
    paths = [str(Path(__file__).parent), *sys.path]
    process = subprocess.Popen(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        preexec_fn=take_interrupts,
    )  # fmt: skip
    assert process.stdout is not None
    return process, [int(number) for number in process.stdout.readline().split()]


def gone(processes: list[int], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not any(Path(f"/proc/{number}").exists() for number in processes):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.slow(kind="workers")
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="processes are looked up in /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_of_a_driver_that_is_stopped(number: int, folder: Path) -> None:
    process, workers = started(folder)
    assert len(workers) == 2
    assert list(folder.glob("spacy_cascade-*"))
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does, to all of them
    else:
        os.kill(process.pid, number)
    output, _ = process.communicate(timeout=10)
    assert gone(workers, 2.0), output
    assert process.returncode == (3 if number == signal.SIGINT else -number)
    until = time.monotonic() + 2.0
    while list(folder.glob("spacy_cascade-*")) and time.monotonic() < until:
        time.sleep(0.01)
