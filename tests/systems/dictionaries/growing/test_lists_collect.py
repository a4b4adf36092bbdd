"""`spacy cascade lists collect`: its files, options and messages."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock, Mock, call

import pytest
from spacy.language import Language
from spacy.tokens import DocBin

from commands import check_errors, run_command
from helpers import SENTENCES, TEXTS, blank, gold_doc, take_interrupts
from spacy_cascade.systems.dictionaries.terms import read_terms

LOOSE = ("--min-confidence", 0.5, "--min-contexts", 1, "--min-agreement", 0, "--processes", 1)


@pytest.fixture(scope="module")
def model(trained: Language, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("grow_list") / "model"
    trained.to_disk(path)
    return path


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(TEXTS), encoding="utf8")
    return path


run = partial(run_command, "lists", "collect")


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines()]


def test_the_list_is_a_lexicon(model: Path, text: Path, tmp_path: Path) -> None:
    output = tmp_path / "new/grown.jsonl"
    stdout, _ = run(model, text, "--output", output, *LOOSE)
    rows = read(output)
    assert f"{len(rows)} terms of {len(rows)} phrases found -> " in stdout
    for label in ("protein", "DNA", "cell"):
        patterns = [row["pattern"] for row in rows if row["label"] == label]
        shown = [label, str(len(patterns)), *", ".join(patterns[:3]).split()]
        assert shown in map(str.split, stdout.splitlines())
    assert [list(row) for row in rows] == [
        ["label", "pattern", "count", "documents", "contexts", "confidence", "agreement"]
    ] * len(rows)
    assert {"protein", "DNA", "cell"} == {row["label"] for row in rows}
    terms = read_terms("grown", str(output))
    assert [(" ".join(t.words), t.label) for t in terms] == [
        (row["pattern"], row["label"]) for row in rows
    ]


def test_kinds_of_text(model: Path, text: Path, tmp_path: Path) -> None:
    """The same texts as lines, compressed, as JSON and as Docs give the same list."""
    folder = tmp_path / "texts"
    folder.mkdir()
    files = [tmp_path / name for name in ("a.txt.gz", "a.jsonl", "a.spacy")]
    files[0].write_bytes(gzip.compress(text.read_bytes(), mtime=0))
    files[1].write_text("".join(json.dumps({"body": t}) + "\n" for t in TEXTS), encoding="utf8")
    vocab = blank().vocab
    # Their entities do not count.
    docs = [gold_doc(vocab, t, [(0, 1, "other")]) for t in TEXTS]
    DocBin(docs=docs).to_disk(files[2])
    lists = []
    for i, file in enumerate([text, *files]):
        output = tmp_path / f"{i}.jsonl"
        run(model, file, "--output", output, "--field", "body", *LOOSE)
        lists.append(read(output))
    assert lists[1:] == [lists[0]] * 3


def test_labels_known_phrases_and_a_limit(model: Path, text: Path, tmp_path: Path) -> None:
    output, known = tmp_path / "grown.jsonl", tmp_path / "known.spacy"
    run(model, text, "--output", output, *LOOSE)
    every = read(output)
    run(model, text, "--output", output, *LOOSE, "--max-terms", 2)
    assert read(output) == every[:2]
    run(model, text, "--output", output, *LOOSE, "--labels", "DNA, cell")
    assert read(output) == [row for row in every if row["label"] != "protein"]
    docs = [gold_doc(blank().vocab, *sentence) for sentence in SENTENCES[:2]]
    DocBin(docs=docs).to_disk(known)
    run(model, text, "--output", output, *LOOSE, "--known", known)
    gold = {e.text for doc in docs for e in doc.ents}
    assert read(output) == [row for row in every if row["pattern"] not in gold] != every


def test_errors_are_one_line(model: Path, text: Path, tmp_path: Path) -> None:
    output = tmp_path / "o/grown.jsonl"
    (tmp_path / "bad.jsonl").write_text("{}", encoding="utf8")
    end = ("--output", output, "--processes", 1)
    check_errors(
        run,
        ((model, tmp_path / "none.txt", *end), "none.txt"),
        ((model, tmp_path / "bad.jsonl", *end), "Line 1 of"),
        ((model, text, "--min-contexts", 99, *end), "thresholds"),
        ((model, text, "--known", tmp_path / "none.spacy", *end), "none.spacy"),
        ((tmp_path / "nomodel", text, *end), "nomodel"),
    )
    assert not output.exists()


def test_a_bar_counts_the_texts_of_each_pass(
    model: Path, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bars: list[MagicMock] = []

    def progress(task: str, **settings: Any) -> MagicMock:
        bars.append(MagicMock(task=task, **settings))
        return bars[-1]

    monkeypatch.setattr("spacy_cascade.pipeline.progress.progress", progress)
    monkeypatch.setattr("spacy_cascade.systems.dictionaries.growing.commands._AT_ONCE", 4)
    run(model, text, "--output", tmp_path / "grown.jsonl", *LOOSE)
    assert [bar.task for bar in bars] == ["Annotating", "Counting"]
    for bar in bars:
        assert bar.__enter__().update.mock_calls == [call(4), call(2)]


def test_ctrl_c_is_one_line_and_writes_nothing(
    model: Path, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = "spacy_cascade.systems.dictionaries.growing.collecting.grow_list"
    monkeypatch.setattr(function, Mock(side_effect=KeyboardInterrupt))
    output = tmp_path / "grown.jsonl"
    stdout, stderr = run(model, text, "--output", output, exit_code=130)
    assert stdout == ""
    assert "Stopped. No list was written." in stderr
    assert not output.exists()


@pytest.mark.slow(kind="commands")
def test_ctrl_c_ends_it_and_writes_nothing(model: Path, tmp_path: Path) -> None:
    text, output = tmp_path / "text.txt", tmp_path / "grown.jsonl"
    text.write_text("\n".join(TEXTS * 200_000), encoding="utf8")
    command = [sys.executable, "-m", "spacy", "cascade", "lists", "collect", str(model), str(text)]
    process = subprocess.Popen(
        [*command, "--output", str(output), "--processes", "2"],
        stderr=subprocess.PIPE, text=True, preexec_fn=take_interrupts,
    )  # fmt: skip
    time.sleep(20)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Stopped. No list was written." in stderr
    assert "Traceback" not in stderr
    assert not output.exists()
