"""`spacy cascade combine distill`: its options and messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import DocBin

from commands import check_errors, run_command
from helpers import LANGUAGE, SENTENCES, TEXTS, blank, gold_doc, trained_cascade
from spacy_cascade.systems.ensembles.members import Member
from spacy_cascade.tools.recipes import Choices, make_config


@pytest.fixture
def given(tmp_path: Path) -> list[Path]:
    nlp = blank()
    made: Any = nlp.add_pipe("cascade_ensemble")
    data = trained_cascade().to_bytes(exclude=["vocab"])
    made.set_members([Member.from_bytes(data, "0", nlp.vocab)])
    nlp.to_disk(tmp_path / "ENSEMBLE")
    config = make_config(Choices(sentences=True, small=True))
    config["nlp"]["lang"] = LANGUAGE
    config["nlp"]["tokenizer"] = {"@tokenizers": "spacy.Tokenizer.v1"}
    for component in config["components"].values():
        component["model"]["min_count"] = 1
    config.to_disk(tmp_path / "ner.cfg")
    docs = [gold_doc(nlp.vocab, *sentence) for sentence in SENTENCES]
    DocBin(docs=docs).to_disk(tmp_path / "train.spacy")
    (tmp_path / "new.txt").write_text("Jurkat cells lack AP-1 .\n", encoding="utf8")
    return [tmp_path / "ENSEMBLE", tmp_path / "ner.cfg"]


def run(given: list[Path], folder: Path, *more: object, exit_code: int = 0) -> tuple[str, str]:
    corpus = folder / "train.spacy"
    paths = ["--train", corpus, "--dev", corpus, "--output", folder / "OUT"]
    return run_command("combine", "distill", *given, *paths, *more, exit_code=exit_code)


def test_it_writes_a_pipeline_and_says_what_it_learnt_from(
    given: list[Path], tmp_path: Path
) -> None:
    more = ("--unlabelled", tmp_path / "new.txt", "--gold", 0.5, "--training.max_steps=1")
    said, _ = run(given, tmp_path, *more)
    assert "6 labelled Docs, 1 Doc labelled by the ensemble, 2 steps" in said
    assert "distilled pipeline: F1 100.00" in said
    nlp = spacy.load(tmp_path / "OUT")
    assert nlp.pipe_names == ["cascade_segmenter", "cascade_classifier"]
    assert [e.label_ for e in nlp(TEXTS[0]).ents] == ["DNA", "protein", "cell"]


def test_errors_are_one_line(given: list[Path], tmp_path: Path) -> None:
    check_errors(
        run,
        ((given, tmp_path, "--gold", 2), "from 0 to 1, not 2"),
        ((given, tmp_path, "--gould", 1), "no option or argument --gould"),
        ((given, tmp_path, "--unlabelled", tmp_path / "absent.txt"), "absent.txt"),
        (([given[0], tmp_path / "no.cfg"], tmp_path), "no.cfg"),
    )
    assert not (tmp_path / "OUT").exists()
