"""`spacy cascade cotrain`: its pipeline, reports and messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin
from typer.testing import CliRunner

from helpers import write_sample
from spacy_cascade.cli import app
from spacy_cascade.workflows.recipes import Choices, make_config

SETTINGS = (
    "--training.max_steps=1",
    "--components.cascade_segmenter.trainer.iterations=6",
    "--components.cascade_classifier.trainer.iterations=6",
)


@pytest.fixture
def given(tmp_path: Path) -> dict[str, Path]:
    path = tmp_path / "ner.cfg"
    make_config(Choices(sentences=True, small=True)).to_disk(path)
    text = tmp_path / "more.txt"
    text.write_text("IL-2 gene expression needs NF-kappa B .\n\nT cells bind it .\n", "utf8")
    return {
        "config": path,
        "train": write_sample(tmp_path / "train.spacy", "train", 8),
        "dev": write_sample(tmp_path / "dev.spacy", "dev", 4),
        "unlabelled": text,
    }


def run(given: dict[str, Path], output: Path, *more: object, exit_code: int = 0):
    options = [(f"--{name}", path) for name, path in given.items() if name != "config"]
    arguments = ["cotrain", given["config"], *sum(options, ()), "--output", output, *more]
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == exit_code, result.output
    return result


@pytest.mark.slow
@pytest.mark.parametrize("method", ["self", "cotrain"])
def test_it_writes_a_pipeline_and_reports(
    given: dict[str, Path], tmp_path: Path, method: str
) -> None:
    report, data = tmp_path / "report.md", tmp_path / "report.json"
    files = ("--report", report, "--json", data, "--unlabelled", given["dev"])
    settings = ("--method", method, "--threshold", 0.2, "--rounds", 1, *SETTINGS)
    found = run(given, tmp_path / "OUT", *files, *settings)
    assert "8 labelled Docs, 6 unlabelled. It ended because" in found.stdout
    assert "without unlabelled text" in found.stdout
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
        error = run({**given, **changed}, tmp_path / "OUT", *more, exit_code=1).stderr
        assert message in error
        assert error.count("\n") == 1
    assert not (tmp_path / "OUT").exists()
