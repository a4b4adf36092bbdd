"""`spacy cascade induce`: the config that it writes, its report, and its messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from spacy.util import load_config, load_model_from_config
from typer.testing import CliRunner

from helpers import PROJECT, sample_examples, train, write_sample
from spacy_cascade.cli import app

SETTINGS = [
    f"--components.{name}.{setting}"
    for name in ("cascade_segmenter", "cascade_classifier")
    for setting in (
        "model.min_count=2", "trainer.induction.rounds=2", "trainer.induction.features=20",
        "trainer.iterations=2", "trainer.threads=1",
    )
]  # fmt: skip
PIPES = ("cascade_segmenter", "cascade_classifier")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_sample(tmp_path / "train.spacy", n_docs=6)


def run(*arguments: object, exit_code: int = 0):
    result = CliRunner().invoke(app, ["induce", *map(str, arguments)])
    assert result.exit_code == exit_code, result.output
    return result


def test_the_config_has_the_templates_and_trains_with_them(corpus: Path, tmp_path: Path) -> None:
    output, report = tmp_path / "frozen.cfg", tmp_path / "report.json"
    config = PROJECT / "configs" / "induced.cfg"
    shown = run(config, "--train", corpus, "--output", output, "--json", report, *SETTINGS)
    frozen, found = load_config(output), json.loads(report.read_text())
    for name, of_component in zip(PIPES, found, strict=True):
        assert of_component["component"] == name
        block = frozen["components"][name]
        templates = block["model"]["templates"]["templates"]
        assert set(templates) == {each["template"] for each in of_component["templates"]}
        assert block["trainer"]["induction"] is None
        assert sum(each["n_features"] for each in of_component["templates"]) == 41
        gains = [each["gain"] for each in of_component["templates"]]
        assert gains == sorted(gains, reverse=True)
        assert of_component["templates"][0]["template"] in shown.stdout
        assert of_component["templates"][0]["example"] in shown.stdout
    assert frozen["training"] == load_config(config)["training"]
    nlp = load_model_from_config(frozen.interpolate(), auto_fill=True)
    train(nlp, sample_examples(nlp, n_docs=6), updates=2)
    scores = nlp.evaluate(sample_examples(nlp, n_docs=6))
    assert scores["ents_f"] > 0.5


def test_errors_are_one_line(corpus: Path, tmp_path: Path) -> None:
    output, configs = tmp_path / "frozen.cfg", PROJECT / "configs"
    for arguments, message in (
        ((configs / "memb.cfg", "--train", corpus), "No trainer of the config has an induction"),
        ((configs / "induced.cfg", "--train", tmp_path / "none.spacy"), "none.spacy"),
        ((configs / "induced.cfg", "--train", corpus, "--rounds", 3), "no option or argument"),
        (
            (configs / "induced.cfg", "--train", corpus,
             "--components.cascade_segmenter.trainer.induction.rounds", 0),
            "rounds",
        ),
    ):  # fmt: skip
        error = run(*arguments, "--output", output, exit_code=1).stderr
        assert message in error
        assert len(error.strip().splitlines()) == 1
        assert not output.exists()
