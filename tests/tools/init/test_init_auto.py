"""`spacy cascade init --auto` from its command line, with real trainings."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import spacy
from spacy.cli.train import train
from spacy.training import Corpus
from spacy.util import load_config
from typer.testing import CliRunner

from helpers import take_interrupts, write_sample
from spacy_cascade.cli import app

pytestmark = pytest.mark.slow(kind="commands")
LONGEST = 10.0
"""Seconds from Ctrl-C to the end of the process, on a machine that does much else besides."""


@pytest.fixture
def corpora(tmp_path: Path) -> tuple[str, ...]:
    paths = [write_sample(tmp_path / f"{s}.spacy", s, n) for s, n in (("train", 6), ("dev", 3))]
    return "--train", str(paths[0]), "--dev", str(paths[1])


def run(*arguments: object, exit_code: int = 0) -> str:
    result = CliRunner().invoke(app, ["init", *map(str, arguments)])
    assert result.exit_code == exit_code, result.output
    return result.stdout


def f1(pipeline: Path, corpus: str) -> str:
    nlp = spacy.load(pipeline)
    return f"{100 * nlp.evaluate(list(Corpus(corpus)(nlp)))['ents_f']:.2f}"


def test_it_ends_in_one_pipeline_and_its_config(corpora: tuple[str, ...], tmp_path: Path) -> None:
    config = tmp_path / "ner.cfg"
    stdout = run(config, *corpora, "--auto", "--trainings", 3, "--processes", 2)
    assert "3 trainings at most, 2 at a time" in stdout
    assert stdout.count(" s\n") == 3
    best = tmp_path / "ner" / "model-best"
    score = f1(best, corpora[3])
    assert f"ents_f {score}. Config -> " in stdout.replace("\n", " ")
    text = config.read_text(encoding="utf8")
    assert "# Tried by --auto, F1 on " in text
    assert f"#   {score}  " in text
    # The config is that of the pipeline, and trains the same one.
    found = load_config(config)
    assert found["training"] == load_config(best / "config.cfg")["training"]
    train(config, tmp_path / "OUT")
    assert f1(tmp_path / "OUT" / "model-best", corpora[3]) == score
    # A second run has nothing to train.
    stdout = run(config, *corpora, "--auto", "--trainings", 3, "--processes", 2, "--force")
    assert f"ents_f {score}." in stdout
    assert load_config(config) == found


def test_without_a_dev_corpus(corpora: tuple[str, ...], tmp_path: Path) -> None:
    config, model = tmp_path / "ner.cfg", tmp_path / "model"
    stdout = run(
        config, *corpora[:2], "--auto", "--trainings", 1, "--folds", 2, "--output-model", model
    )
    assert "each of them 2 for the folds" in stdout
    assert "1 of 2 parts" in stdout
    assert spacy.load(model / "model-best").pipe_names
    assert "F1 over folds" in config.read_text(encoding="utf8")


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no process groups")
def test_ctrl_c_keeps_what_there_is_and_says_how_to_go_on(
    corpora: tuple[str, ...], tmp_path: Path
) -> None:
    config, log = tmp_path / "ner.cfg", tmp_path / "log"
    arguments = [str(config), *corpora, "--auto", "--trainings", "3", "--processes", "1"]
    with log.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "spacy", "cascade", "init", *arguments],
            stdout=file, stderr=file, start_new_session=True, preexec_fn=take_interrupts,
        )  # fmt: skip
    until = time.monotonic() + 300
    while " s\n" not in log.read_text() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    begin = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    process.wait(60)
    assert time.monotonic() - begin < LONGEST
    text = log.read_text()
    assert process.returncode == 130, text
    assert "Stopped with 2 trainings left. The same command with --force goes on." in text
    assert "Traceback" not in text
    assert "leaked" not in text
    assert load_config(config)["paths"]["train"] == corpora[1]
    assert spacy.load(tmp_path / "ner" / "model-best").pipe_names
    before = (tmp_path / "ner" / "trials.jsonl").read_text()
    run(*arguments, "--force")
    after = (tmp_path / "ner" / "trials.jsonl").read_text()
    assert after.startswith(before)
    assert (before.count("\n"), after.count("\n")) == (1, 3)
