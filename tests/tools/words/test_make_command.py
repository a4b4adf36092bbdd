"""`spacy cascade words make`: its options, messages and processes."""

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
from spacy_cascade.locking import lock_folder
from spacy_cascade.systems.words.files import read_table
from spacy_cascade.systems.words.table import About, values_of
from spacy_cascade.tools.words import making
from spacy_cascade.tools.words.making import Settings
from spacy_cascade.tools.words.splitting import TokenizerChoice
from unlabelled_text import ANIMALS, STONES, paragraphs

pytest.importorskip("floret")

SETTINGS = ("--sizes", "2,4", "--dimensions", 8, "--epochs", 30)
LONGEST = 10.0
"""Seconds from Ctrl-C to the end of the process, on a machine that does much else besides."""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.txt"
    path.write_text("".join(f"{text}\n" for text in paragraphs()))
    return path


run = partial(run_command, "words", "make")


def test_errors_are_one_line(source: Path, tmp_path: Path) -> None:
    there, output = tmp_path / "there.txt", tmp_path / "own.words"
    there.write_text("0\tw\t1\n")
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_text('{"text": "x"}\n{"text": \n')
    check_errors(
        run,
        ((source, "--output", there), "there.txt already exists. Replace it with --force."),
        ((tmp_path / "no.txt", "--output", output), "There is no text or file of vectors at"),
        ((source, "--output", output, "--sizes", "4,2"), "--sizes are 1 to 4 ascending numbers"),
        ((source, "--output", output, "--sizes", "many"), "--sizes are whole numbers with commas"),
        (("no_such_package", "--output", output), "no_such_package is not installed"),
        ((source, "--output", output, "--lang", "nolanguage"), "--lang nolanguage"),
        ((damaged, "--output", output, "--processes", 1), "Line 2 of"),
    )
    with lock_folder(making.work_folder(output)):
        check_errors(run, ((source, "--output", output), "Another run is at work in"))
    assert not output.exists()
    assert there.read_text() == "0\tw\t1\n"


def test_ctrl_c_says_how_to_go_on(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(making, "write_words", stop)
    stdout, _ = run(source, "--output", tmp_path / "own.words", exit_code=130)
    assert "Stopped. The same command goes on with what is in " in stdout
    assert "own.words.work" in stdout


def test_settings_are_those_of_the_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[object] = []

    def note(*arguments: object) -> None:
        given.extend(arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(making, "make_table", note)
    settings = Settings(
        sizes=(3, 9), seed=1, max_words=20, vocabulary=Path("list.txt"), processes=3,
        tokenizer=TokenizerChoice("de", "some.cfg"), json_field="body", min_count=2, dimensions=8,
        epochs=4, max_texts=30,
    )  # fmt: skip
    options = (
        "--sizes", "3,9", "--seed", 1, "--max-words", 20, "--vocabulary", "list.txt",
        "--processes", 3, "--lang", "de", "--tokenizer", "some.cfg", "--field", "body",
        "--min-count", 2, "--dimensions", 8, "--epochs", 4, "--max-texts", 30,
    )  # fmt: skip
    for wanted, more in ((Settings(), ()), (settings, options)):
        given.clear()
        run("a", "b", "--output", tmp_path / "own.words", *more, exit_code=130)
        assert given[:4] == [["a", "b"], tmp_path / "own.words", wanted, About("own")]


@pytest.mark.slow(kind="commands")
def test_in_processes(source: Path, tmp_path: Path) -> None:
    output = tmp_path / "own.words"
    stdout, _ = run(source, "--output", output, *SETTINGS, "--processes", 2)
    assert "clusters of 17 listed words -> " in stdout
    table = read_table("own", str(output))
    found = [set(values_of(table.word_codes(words), 0).tolist()) for words in (ANIMALS, STONES)]
    assert sorted(map(sorted, found)) == [[1], [2]]


def test_meta_is_that_of_the_options(tmp_path: Path) -> None:
    vectors, output = tmp_path / "a.vec", tmp_path / "own.words"
    vectors.write_text("cat 1 2\ndog 1 3\nnone nan 1\n")
    given = ("--name", "ours", "--url", "here", "--author", "me", "--license", "CC0")
    stdout, _ = run(vectors, "--output", output, *given, "--sizes", 2)
    assert read_table("own", str(output)).about == About("ours", "here", "me", "CC0")
    assert f"Understood: {vectors} as a file of word vectors" in stdout
    assert "1 word left out" in stdout
    assert "2 clusters of 2 listed words -> " in stdout
    run(vectors, "--output", output, "--force")
    assert read_table("own", str(output)).about == About("own")


@pytest.mark.slow(kind="commands")
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no process groups")
def test_stopped_and_killed_runs_continue(source: Path, tmp_path: Path) -> None:
    """Ctrl-C while vectors are trained ends all processes; so does the next run, after a kill."""
    output, log = tmp_path / "own.words", tmp_path / "log"
    command = [
        sys.executable,
        "-m",
        "spacy",
        "cascade",
        "words",
        "make",
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
        states.append(sorted(path.name for path in folder.glob("[!._]*")))
    assert [name.split("-")[0] for name in states[0]] == ["forms", "words"]
    assert states[0] == states[1]
    run(source, "-o", output, *SETTINGS)
    assert len(read_table("own", str(output)).arrays()["keys"]) == 17
    assert not folder.exists()
