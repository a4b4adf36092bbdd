"""The report of the sample corpus, as the project's main workflow makes it, in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from spacy.cli.train import train
from typer.testing import CliRunner

from helpers import PROJECT, needs_browser, open_page, write_sample
from spacy_cascade.cli import app


@pytest.mark.slow
@needs_browser
def test_it_opens_without_a_word_on_the_console(tmp_path: Path) -> None:
    paths = {
        name: write_sample(tmp_path / f"{name}.spacy", name) for name in ("train", "dev", "test")
    }
    settings = {
        "paths.train": str(paths["train"]),
        "paths.dev": str(paths["dev"]),
        "components.cascade_segmenter.model.min_count": 1,
    }
    train(PROJECT / "configs/memb.cfg", tmp_path / "out", overrides=settings)
    page = tmp_path / "report.html"
    arguments = ["evaluate", tmp_path / "out/model-best", paths["test"], "--html", page]
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    opened = open_page(page, tmp_path / "profile")
    assert opened.complaints == []
    for heading in ("Scores", "Confusion of types", "Kinds of mistakes", "Calibration", "costly"):
        assert heading in opened.dom
    assert "cell_line" in opened.dom
