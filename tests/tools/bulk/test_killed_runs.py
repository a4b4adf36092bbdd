"""Processes that are killed: the results are those of a run that nobody disturbed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent

import pytest

from bulk_truth import contents, texts_of
from helpers import TEXTS, take_interrupts
from spacy_cascade.tools.bulk.run import LOG, SUCCESS, Settings, annotate_files
from spacy_cascade.tools.bulk.writers import Layout

pytestmark = [
    pytest.mark.slow(kind="child processes"),
    pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="only Linux lists children"),
]
N = 60_000
HOOK = """
import os, signal, sys
times = []
def watch(event, arguments):
    if event == "open":
        path = str(arguments[0])
{}
sys.addaudithook(watch)
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("texts") / "a.txt"
    path.write_text("".join(f"{text} {i}\n" for i, text in enumerate(texts_of(N, TEXTS))))
    return path


@pytest.fixture(scope="module")
def undisturbed(model: Path, source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("undisturbed") / "out"
    annotate_files(model, [str(source)], output, Settings(Layout("jsonl"), shard_size=1_000_000))
    return output


@dataclass(frozen=True)
class Run:
    """A run of the command; messages: file with what it says."""

    process: subprocess.Popen[bytes]
    messages: Path

    def outcome(self) -> tuple[int, str]:
        """Exit status and messages, when it has ended by itself, however long that takes."""
        return self.process.wait(), self.messages.read_text()


def start(model: Path, source: Path, output: Path, hook: str = "") -> Run:
    """Begin a run. hook: lines of a function, which is called with each file that is opened."""
    folder = Path(tempfile.mkdtemp(dir=output.parent))
    if hook:
        (folder / "sitecustomize.py").write_text(HOOK.format(indent(hook, " " * 8)))
    with (folder / "messages").open("w") as messages:
        process = subprocess.Popen(
            [
                sys.executable, "-m", "spacy", "cascade", "annotate", str(model), str(source),
                "--output", str(output), "--to", "jsonl", "--processes", "2", "--shard-size", "1",
            ],
            stdout=subprocess.DEVNULL, stderr=messages, preexec_fn=take_interrupts,
            env={**os.environ, "PYTHONPATH": str(folder)},
        )  # fmt: skip
    return Run(process, folder / "messages")


def workers_of(process: int) -> list[int]:
    """Processes that annotate, which is not all that Python starts."""
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        commands = {c: Path(f"/proc/{c}/cmdline").read_bytes() for c in children}
    except OSError:
        return []
    return [int(c) for c, command in commands.items() if b"spawn_main" in command]


def is_alive(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def shards_done(output: Path) -> int:
    log = output / LOG
    return len(log.read_text().splitlines()) if log.exists() else 0


def wait_until(condition: Callable[[], bool]) -> None:
    """As long as it takes: a machine may have much else to do."""
    while not condition():
        time.sleep(0.01)


def wait_for_a_moment(
    process: subprocess.Popen[bytes], output: Path, chance: random.Random
) -> None:
    """Until processes annotate, perhaps until some more shards are done, and a little longer."""
    wanted = shards_done(output) + chance.choice((0, 0, 1, 2))

    def has_come() -> bool:
        works = bool(workers_of(process.pid)) and shards_done(output) >= wanted
        return works or process.poll() is not None

    wait_until(has_come)
    time.sleep(chance.uniform(0.0, 0.5))


def kill_one(process: subprocess.Popen[bytes], chance: random.Random) -> bool:
    """Kill the driver or a worker; whether there was one."""
    workers = workers_of(process.pid)
    if process.poll() is not None or not workers:
        return False
    if chance.random() < 0.5:
        os.kill(chance.choice(workers), signal.SIGKILL)
        return True
    process.kill()
    process.wait()
    wait_until(lambda: not any(map(is_alive, workers)))
    return True


def test_killed_runs_lose_nothing(
    model: Path, source: Path, undisturbed: Path, tmp_path: Path, cases: Callable[[int], int]
) -> None:
    """`--full` kills 50 times: drivers and workers, at random moments from the start to the end."""
    chance, kills, folders = random.Random(1), 0, 0
    wanted = max(4, cases(50))
    while kills < wanted:
        output = tmp_path / str(folders)
        folders += 1
        while kills < wanted and not (output / SUCCESS).exists():
            process = start(model, source, output).process
            while kills < wanted and process.poll() is None:
                wait_for_a_moment(process, output, chance)
                kills += kill_one(process, chance)
            process.kill()
            process.wait()
        assert start(model, source, output).outcome()[0] == 0
        assert contents(output) == contents(undisturbed)
        assert not list(output.glob(".*"))


def test_a_second_run_is_refused_while_the_first_lives(
    model: Path, source: Path, undisturbed: Path, tmp_path: Path
) -> None:
    """The first one stops itself when it is about to note its second shard."""
    output = tmp_path / "out"
    first = start(
        model, source, output,
        f"if path.endswith({LOG!r}): times.append(path)\n"
        "if len(times) == 2: os.kill(os.getpid(), signal.SIGSTOP)",
    )  # fmt: skip
    _, status = os.waitpid(first.process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    assert shards_done(output) == 1
    refused, message = start(model, source, output).outcome()
    assert refused == 1
    assert "Another run is at work in" in message
    first.process.kill()
    first.process.wait()
    assert start(model, source, output).outcome()[0] == 0
    assert contents(output) == contents(undisturbed)


def test_ctrl_c_stops_and_the_same_command_goes_on(
    model: Path, source: Path, undisturbed: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    first = start(model, source, output)
    wait_until(lambda: shards_done(output) > 0 or first.process.poll() is not None)
    first.process.send_signal(signal.SIGINT)
    assert first.outcome()[0] in (130, 0)
    assert start(model, source, output).outcome()[0] == 0
    assert contents(output) == contents(undisturbed)


def test_a_shard_that_kills_every_process_is_named(
    model: Path, source: Path, tmp_path: Path
) -> None:
    """As one does that takes more memory than there is."""
    hook = "if '.part-000002.' in path: os.kill(os.getpid(), signal.SIGKILL)"
    status, message = start(model, source, tmp_path / "out", hook).outcome()
    assert status == 1
    assert "Processes ended again and again" in message
    assert "a.txt from record" in message
