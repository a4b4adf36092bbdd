"""`spacy cascade ensemble`: its options and messages."""

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
    arguments = ["ensemble", given["config"], *paths, *more]
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == exit_code, result.output
    return result


@pytest.mark.slow
def test_it_writes_a_pipeline_and_says_how_good_it_is(
    given: dict[str, Path], tmp_path: Path
) -> None:
    more = ("--members", 2, "--also", given["config"], "--processes", 2, *SETTINGS)
    found = run(given, tmp_path / "OUT", *more)
    assert "member 000" in found.stdout
    assert "2 members, the best of them 00" in found.stdout
    assert "ensemble: F1" in found.stdout
    nlp = spacy.load(tmp_path / "OUT")
    assert nlp.pipe_names == ["cascade_ensemble"]
    member = nlp.get_pipe("cascade_ensemble").members[1]
    assert member.nlp.config["components"]["cascade_segmenter"]["trainer"]["iterations"] == 2


def test_errors_are_one_line(given: dict[str, Path], tmp_path: Path) -> None:
    absent = {**given, "train": tmp_path / "absent.spacy"}
    for arguments, message in (
        ((given, tmp_path / "OUT", "--members", 0), "at least one member, not 0"),
        ((given, tmp_path / "OUT", "--features", 0), "above 0 and up to 1, not 0"),
        ((given, tmp_path / "OUT", "--data", 1.2), "above 0 and up to 1, not 1.2"),
        ((given, tmp_path / "OUT", "--membres", 5), "no option or argument --membres"),
        ((given, tmp_path / "OUT", "--also", tmp_path / "no.cfg"), "no.cfg"),
        ((absent, tmp_path / "OUT"), "There is no corpus at"),
    ):
        error = run(*arguments, exit_code=1).stderr
        assert message in error
        assert error.count("\n") == 1
    assert not (tmp_path / "OUT").exists()
