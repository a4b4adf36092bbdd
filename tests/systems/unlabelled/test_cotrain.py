"""`spacy cascade combine cotrain`: its pipeline, reports and messages."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin

from commands import few_steps, run_training, small_training

SETTINGS = few_steps(6)
run = partial(run_training, "combine", "cotrain")


@pytest.fixture
def given(tmp_path: Path) -> dict[str, Path]:
    text = tmp_path / "more.txt"
    text.write_text("IL-2 gene expression needs NF-kappa B .\n\nT cells bind it .\n", "utf8")
    return {**small_training(tmp_path, 8), "unlabelled": text}


@pytest.mark.slow(kind="commands")
@pytest.mark.parametrize("method", ["self", "cotrain"])
def test_it_writes_a_pipeline_and_reports(
    given: dict[str, Path], tmp_path: Path, method: str
) -> None:
    report, data = tmp_path / "report.md", tmp_path / "report.json"
    files = ("--report", report, "--json", data, "--unlabelled", given["dev"])
    settings = ("--method", method, "--threshold", 0.2, "--rounds", 1, *SETTINGS)
    said, _ = run(given, tmp_path / "OUT", *files, *settings)
    assert "8 labelled Docs, 6 unlabelled. It ended because" in said
    assert "without unlabelled text" in said
    learnt = json.loads(data.read_text("utf8"))
    assert learnt["method"] == method
    assert learnt["sure"] == {"threshold": 0.2, "background": 0.05}
    assert not learnt["knows_gold"]  # the text has no entities
    (only,) = learnt["rounds"]
    assert only["added"]["right"] is None
    assert f"| 1 | {only['added']['documents']} |" in report.read_text("utf8")
    assert "estimate" in report.read_text("utf8")
    nlp = spacy.load(tmp_path / "OUT")
    assert nlp.config["components"]["cascade_segmenter"]["trainer"]["iterations"] == 6
    assert nlp("IL-2 gene expression").has_annotation("ENT_IOB")


def test_errors_are_one_line(given: dict[str, Path], tmp_path: Path) -> None:
    empty, none = tmp_path / "empty.txt", tmp_path / "none.spacy"
    empty.write_text("\n", "utf8")
    DocBin().to_disk(none)
    for changed, more, message in (
        ({"unlabelled": empty}, (), "no unlabelled text"),
        ({"unlabelled": none}, (), "no unlabelled text"),
        ({"unlabelled": tmp_path / "absent.txt"}, (), "There is no text at"),
        ({"train": tmp_path / "absent.spacy"}, (), "There is no corpus at"),
        ({}, ("--threshold", 0), "must be above 0"),
        ({}, ("--rounds", 0), "1 round or more"),
        ({}, ("--nlp.lang", "qq"), "cannot be used"),
    ):
        error = run({**given, **changed}, tmp_path / "OUT", *more, exit_code=1)[1]
        assert message in error
        assert error.count("\n") == 1
    assert not (tmp_path / "OUT").exists()
