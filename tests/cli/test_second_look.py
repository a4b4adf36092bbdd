"""`spacy cascade second-look`: its options and messages."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy
from typer.testing import CliRunner

from helpers import write_sample
from spacy_cascade.cli import app
from spacy_cascade.workflows.recipes import Choices, make_config

SETTINGS = (
    "--training.max_steps=1",
    "--components.cascade_segmenter.trainer.iterations=2",
    "--components.cascade_classifier.trainer.iterations=2",
)


@pytest.fixture
def given(tmp_path: Path) -> dict[str, Path]:
    path = tmp_path / "ner.cfg"
    make_config(Choices(sentences=True, small=True)).to_disk(path)
    return {
        "config": path,
        "train": write_sample(tmp_path / "train.spacy", "train", 12),
        "dev": write_sample(tmp_path / "dev.spacy", "dev", 4),
    }


def run(given: dict[str, Path], output: Path, *more: object, exit_code: int = 0):
    paths = ["--train", given["train"], "--dev", given["dev"], "--output", output]
    arguments = ["second-look", given["config"], *paths, *more]
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == exit_code, result.output
    return result


@pytest.mark.slow
def test_it_writes_a_pipeline_and_says_which(given: dict[str, Path], tmp_path: Path) -> None:
    found = run(given, tmp_path / "OUT", "--folds", 2, *SETTINGS)
    assert "2 trainings without each of 2 folds" in found.stdout
    is_better = "two passes: F1" in found.stdout
    assert is_better or "a second pass gains nothing" in found.stdout
    nlp = spacy.load(tmp_path / "OUT")
    assert ("first_cascade_segmenter" in nlp.pipe_names) == is_better
    assert nlp.config["components"]["cascade_segmenter"]["trainer"]["iterations"] == 2


def test_errors_are_one_line(given: dict[str, Path], tmp_path: Path) -> None:
    absent = {**given, "train": tmp_path / "absent.spacy"}
    for arguments, message in (
        ((given, tmp_path / "OUT", "--folds", 1), "2 folds or more, not 1"),
        ((given, tmp_path / "OUT", "--flods", 5), "no option or argument --flods"),
        ((absent, tmp_path / "OUT"), "There is no corpus at"),
    ):
        error = run(*arguments, exit_code=1).stderr
        assert message in error
        assert error.count("\n") == 1
    assert not (tmp_path / "OUT").exists()
