"""Processes that end with an error or Ctrl-C, and leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from multiprocessing import active_children
from pathlib import Path

import pytest

from helpers import take_interrupts
from spacy_cascade import TrainingError
from spacy_cascade.processes import run_in_processes, stream_through_processes

SCRIPT = """
import sys, test_child_processes as tests
if __name__ == "__main__":
    try:
        arguments = [(sys.argv[1],), (sys.argv[1],)]
        list(tests.run_in_processes(tests.wait_long, arguments, 2, lambda: None))
    except KeyboardInterrupt:
        print("stopped", flush=True)
        sys.exit(3)
"""


def double(number: int) -> int:
    if number < 0:
        raise ValueError(f"no {number}")
    return 2 * number


def wait_long(folder: str) -> None:
    Path(folder, f"{os.getpid()}.txt").write_text(tempfile.mkdtemp())
    time.sleep(600)


def end() -> None:
    os._exit(1)


def wait_a_little() -> str:
    time.sleep(2.5)
    return tempfile.gettempdir()


@pytest.mark.slow(kind="child processes")
def test_results_come_as_they_are() -> None:
    ticks: list[int] = []
    found = run_in_processes(double, [(1,), (2,), (3,)], 2, lambda: ticks.append(1))
    assert sorted(found) == [2, 4, 6]
    assert ticks
    assert not active_children()


@pytest.mark.slow(kind="child processes")
def test_a_stream_is_in_order_and_read_as_it_is_needed() -> None:
    read: list[int] = []

    def arguments() -> Iterator[tuple[int]]:
        for number in range(40):
            read.append(number)
            yield (number,)

    results = stream_through_processes(double, arguments(), 2)
    assert next(results) == 0
    assert len(read) <= 8
    assert list(results) == [2 * number for number in range(1, 40)]
    assert not active_children()


@pytest.mark.slow(kind="child processes")
def test_an_error_ends_a_stream() -> None:
    with pytest.raises(ValueError, match="no -1"):
        list(stream_through_processes(double, ((1 - i,) for i in range(100)), 2))
    assert not active_children()


@pytest.mark.slow(kind="child processes")
def test_temporary_files_go_with_the_processes() -> None:
    ticks: list[int] = []
    (folder,) = run_in_processes(wait_a_little, [()], 1, lambda: ticks.append(1))
    assert folder != tempfile.gettempdir()
    assert not Path(folder).exists()
    assert len(ticks) >= 3  # once a second


@pytest.mark.slow(kind="child processes")
def test_errors_end_all() -> None:
    with pytest.raises(ValueError, match="no -1"):
        list(run_in_processes(double, [(-1,), (2,)], 2, lambda: None))
    with pytest.raises(TrainingError, match="ended before its work was done"):
        list(run_in_processes(end, [()], 1, lambda: None))
    assert not active_children()


def started(folder: Path, script: Path) -> subprocess.Popen[str]:
    """A process whose two children wait, and have each written a file to the folder."""
    script.write_text(SCRIPT)
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, str(script), str(folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        preexec_fn=take_interrupts,
    )  # fmt: skip
    until = time.monotonic() + 120
    while len(list(folder.iterdir())) < 2 and process.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    return process


def is_alive(process: int) -> bool:
    """Not where it has ended and nobody has asked how."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow(kind="child processes")
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells of others")
def test_processes_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    process = started(tmp_path / "files", tmp_path / "script.py")
    children = [int(file.stem) for file in (tmp_path / "files").iterdir()]
    assert len(children) == 2
    assert all(map(is_alive, children))
    process.kill()
    until = time.monotonic() + 30
    try:
        while any(map(is_alive, children)):
            assert time.monotonic() < until, "they wait for work of a process that is gone"
            time.sleep(0.05)
    finally:
        for child in filter(is_alive, children):
            os.kill(child, signal.SIGKILL)
        process.communicate()


@pytest.mark.slow(kind="child processes")
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no process groups")
def test_ctrl_c_ends_all_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    process = started(folder, tmp_path / "script.py")
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to all of them
    output, _ = process.communicate(timeout=30)
    assert (output, process.returncode) == ("stopped\n", 3)
    for file in folder.iterdir():
        with pytest.raises(ProcessLookupError):
            os.kill(int(file.stem), 0)
        assert not Path(file.read_text()).exists()
