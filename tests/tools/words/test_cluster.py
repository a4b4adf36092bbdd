"""`spacy cascade words cluster`: its options, messages and processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from commands import check_errors, run_command
from helpers import take_interrupts
from spacy_cascade.systems.words.paths import read_paths
from spacy_cascade.tools.clustering import making
from unlabelled_text import ANIMALS, STONES, paragraphs

pytest.importorskip("floret")
pytest.importorskip("sklearn")

SETTINGS = ("--n-clusters", 2, "--size", 8, "--epochs", 30)
LONGEST = 10.0
"""Seconds from Ctrl-C to the end of the process, on a machine that does much else besides."""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.txt"
    path.write_text("".join(f"{text}\n" for text in paragraphs()))
    return path


run = partial(run_command, "words", "cluster")


def test_errors_are_one_line(source: Path, tmp_path: Path) -> None:
    there, output = tmp_path / "there.txt", tmp_path / "clusters.txt"
    there.write_text("0\tw\t1\n")
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_text('{"text": "x"}\n{"text": \n')
    check_errors(
        run,
        ((source, "--output", there), "there.txt already exists. Replace it with --force."),
        ((tmp_path / "no.txt", "--output", output), "There is no text at"),
        ((source, "--output", output, "--n-clusters", 1), "--n-clusters is 1"),
        ((source, "--output", output, "--lang", "nolanguage"), "--lang nolanguage"),
        ((damaged, "--output", output, "--processes", 1), "Line 2 of"),
    )
    assert not output.exists()
    assert there.read_text() == "0\tw\t1\n"


def test_ctrl_c_says_how_to_go_on(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(making, "write_words", stop)
    stdout, _ = run(source, "--output", tmp_path / "clusters.txt", exit_code=130)
    assert "Stopped. The same command goes on with what is in " in stdout
    assert "clusters.txt.work" in stdout


@pytest.mark.slow(kind="commands")
def test_in_processes(source: Path, tmp_path: Path) -> None:
    output = tmp_path / "clusters.txt.gz"
    stdout, _ = run(source, "--output", output, *SETTINGS, "--processes", 2)
    assert "2 clusters of 17 words that occur 12,400 times -> " in stdout
    found: dict[str, set[str]] = {}
    for one in read_paths("test", str(output)):
        found.setdefault(one.path, set()).add(one.word)
    assert sorted(words - {"."} for words in found.values()) in (
        [set(ANIMALS), set(STONES)],
        [set(STONES), set(ANIMALS)],
    )


@pytest.mark.slow(kind="commands")
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no process groups")
def test_stopped_and_killed_runs_continue(source: Path, tmp_path: Path) -> None:
    """Ctrl-C while vectors are trained ends all processes; so does the next run, after a kill."""
    output, log = tmp_path / "clusters.txt", tmp_path / "log"
    command = [
        sys.executable,
        "-m",
        "spacy",
        "cascade",
        "words",
        "cluster",
        str(source),
        "-o",
        str(output),
    ]
    folder = making.work_folder(output)
    states: list[list[str]] = []
    for stop in (signal.SIGINT, signal.SIGKILL):
        with log.open("w") as file:
            process = subprocess.Popen(
                [*command, "--epochs", "100000"],
                stdout=file, stderr=file, start_new_session=True, preexec_fn=take_interrupts,
            )  # fmt: skip
        until = time.monotonic() + 300
        while not list(folder.glob(".vectors*")) and process.poll() is None:
            assert time.monotonic() < until
            time.sleep(0.05)
        time.sleep(1)
        begin = time.monotonic()
        os.killpg(process.pid, stop)
        process.wait(60)
        assert time.monotonic() - begin < LONGEST
        text = log.read_text()
        assert "Traceback" not in text
        assert "leaked" not in text
        assert process.returncode == (130 if stop == signal.SIGINT else -signal.SIGKILL), text
        assert ("Stopped. The same command" in text) == (stop == signal.SIGINT)
        states.append(sorted(path.name for path in folder.glob("[!.]*")))
    assert [name.split("-")[0] for name in states[0]] == ["forms", "words"]
    assert states[0] == states[1]
    run(source, "-o", output, *SETTINGS)
    assert len(list(read_paths("test", str(output)))) == 17
    assert not folder.exists()
