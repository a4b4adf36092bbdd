"""`spacy cascade tune` from its command line, with real trials."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from functools import partial, reduce
from pathlib import Path
from typing import Any

import pytest
from spacy.util import load_config

from commands import check_errors, run_command
from helpers import PROJECT, take_interrupts
from spacy_cascade.cli.output import STOPPED
from spacy_cascade.locking import lock_folder
from spacy_cascade.parallel import available_cores
from spacy_cascade.tools.search import searches
from spacy_cascade.tools.search.searches import default_searches
from spacy_cascade.workflows.jackknife import read_config

CONFIG = PROJECT / "configs/memb.cfg"
SETTINGS = (
    "--components.cascade_segmenter.model.min_count", 1,
    "--components.cascade_classifier.model.min_count", 1, "--training.max_steps", 1,
)  # fmt: skip
SEARCHES = default_searches(read_config(CONFIG))
SIGMA, KAPPA = (axis.name for axis in SEARCHES["cascade_segmenter"])


run = partial(run_command, "tune")


def both(corpus: Path) -> tuple[object, ...]:
    return "--train", corpus, "--dev", corpus


def value_of(config: dict, name: str) -> float:
    return reduce(lambda section, key: section[key], name.split("."), config)


def read_trials(output: Path) -> list[dict]:
    """Those whose lines are whole."""
    path = output / "trials.jsonl"
    lines = path.read_text(encoding="utf8").splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


@pytest.mark.slow(kind="commands")
def test_it_finds_settings_and_goes_on_where_it_was(corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "found"
    arguments = (
        CONFIG, output, *both(corpus), "--rounds", 2, "--processes", 2, "--search",
        f"{SIGMA}=0.0001..1:log", "--search", "training.patience=1..3", *SETTINGS,
    )  # fmt: skip
    stdout, stderr = run(*arguments)
    assert stderr == ""
    assert "ents_f 100.00 with cascade_segmenter.sigma " in stdout.replace("\n", " ")
    best = load_config(output / "best.cfg")
    assert value_of(best, SIGMA) > 0.01
    assert best["components"]["cascade_segmenter"]["model"]["min_count"] == 1
    (finished,) = json.loads((output / "search.json").read_text())
    assert finished["found"]["score"] == 1.0
    lines = (output / "trials.jsonl").read_text()
    again, _ = run(*arguments)
    assert " s\n" not in again
    assert (output / "trials.jsonl").read_text() == lines


@pytest.mark.slow(kind="commands")
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no process groups")
def test_a_killed_search_goes_on(corpus: Path, tmp_path: Path) -> None:
    """With all its processes, so that none has time to put anything right."""
    n_trials = 8  # of a search of three settings in one round
    output, log = tmp_path / "found", tmp_path / "log"
    arguments = [
        str(argument)
        for argument in (
            CONFIG, output, *both(corpus), "--processes", 1, "--rounds", 1,
            "--search", f"{SIGMA}=0.01..1:log", "--search", f"{KAPPA}=0..8",
            "--search", f"{SEARCHES['cascade_classifier'][0].name}=0.01..1:log", *SETTINGS,
        )
    ]  # fmt: skip
    with log.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "spacy", "cascade", "tune", *arguments],
            stdout=file, stderr=file, start_new_session=True,
        )  # fmt: skip
    try:
        until = time.monotonic() + 300
        while not read_trials(output):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.01)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert process.returncode == -signal.SIGKILL
    before = read_trials(output)
    assert 1 <= len(before) < n_trials
    assert not (output / "best.cfg").exists()
    stdout, _ = run(*arguments)
    trials = read_trials(output)
    assert trials[: len(before)] == before
    assert stdout.count(" s\n") == len(trials) - len(before)
    # A run that asked for other points than the killed one would need more trials.
    assert len({json.dumps(trial["settings"]) for trial in trials}) == len(trials) == n_trials
    (finished,) = json.loads((output / "search.json").read_text())
    assert finished["found"]["score"] == max(trial["score"] for trial in trials)


@pytest.mark.slow(kind="commands")
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no process groups")
@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_keeps_what_is_done(presses: int, corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "found"
    arguments = (CONFIG, output, *both(corpus), "--processes", 2, *SETTINGS)
    process = subprocess.Popen(
        [sys.executable, "-m", "spacy", "cascade", "tune", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=take_interrupts,
    )  # fmt: skip
    until = time.monotonic() + 300
    while not read_trials(output) and time.monotonic() < until:
        time.sleep(0.05)
    for _ in range(presses):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.2)
    begin = time.monotonic()
    _, stderr = process.communicate(timeout=60)
    assert time.monotonic() - begin < 5  # about one second on a machine that does nothing else
    n = len(read_trials(output))
    assert n >= 1
    assert f"{output / 'trials.jsonl'} has {n} trial" in stderr
    assert "The same command goes on from there." in stderr
    assert "Traceback" not in stderr


@pytest.mark.parametrize(("given", "processes"), [((), available_cores()), (("--processes", 5), 5)])
def test_all_cores_are_used_unless_a_number_is_given(
    given: tuple[object, ...], processes: int, corpus: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    asked: list[int] = []

    def tune(*arguments: object, **settings: Any) -> None:
        asked.append(settings["processes"])
        raise KeyboardInterrupt

    monkeypatch.setattr(searches, "tune", tune)
    _, stderr = run(CONFIG, tmp_path / "out", *both(corpus), *given, exit_code=STOPPED)
    assert asked == [processes]
    assert "has 0 trials of this search." in " ".join(stderr.split())


def test_errors_are_one_line(corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    data = (CONFIG, output, "--train", corpus)
    five = [part for i in range(1, 6) for part in ("--search", f"training.patience=0..{i}")]
    check_errors(
        run,
        ((*data, "--search", "a"), "Cannot read 'a'"),
        ((*data, "--search", "a.b=0..1"), "'a.b' is not a number in"),
        ((*data, "--component", "nobody"), "'nobody' has no sigma or kappa to search"),
        ((*data, "--component", "x", "--search", "a=0..1"), "not both"),
        ((*data, *five), "1 to 4 settings and at least 1 round, not 5 and 5."),
        ((tmp_path / "nowhere.cfg", *data[1:]), "nowhere.cfg"),
        ((*data[:-1], tmp_path / "nowhere.spacy"), "nowhere.spacy"),
        ((*data, "--flods", 3), "no option or argument --flods"),
    )
    with lock_folder(output):
        check_errors(run, (data, "Another run is at work in"))
