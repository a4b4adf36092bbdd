"""`spacy cascade init --train`: configs for a corpus in hand, and questions about it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import spacy
from spacy.cli.train import train
from spacy.tokens import Doc
from spacy.util import load_config
from spacy.vocab import Vocab

from commands import check_errors, run_command
from helpers import write_sample
from made_corpora import named_docs, write_docs
from spacy_cascade.tools.init import command as init
from spacy_cascade.tools.recipes import config_text

run = partial(run_command, "init")


@pytest.fixture
def corpora(tmp_path: Path) -> tuple[Path, Path]:
    train_path = write_docs(tmp_path / "train.spacy", named_docs(Vocab(), 6))
    return train_path, write_docs(tmp_path / "dev.spacy", named_docs(Vocab(), 2))


@pytest.mark.slow(kind="commands")
def test_it_says_what_it_saw_and_trains_without_more_options(tmp_path: Path) -> None:
    for split, n in (("train", 6), ("dev", 3)):
        write_sample(tmp_path / f"{split}.spacy", split, n)
    config = tmp_path / "ner.cfg"
    stdout, _ = run(config, "--train", tmp_path / "train.spacy", "--dev", tmp_path / "dev.spacy")
    assert "6 documents" in stdout
    assert f"python -m spacy train {config} --output OUT" in stdout
    text = config.read_text(encoding="utf8")
    assert "# What was seen:\n# 6 documents" in text
    assert "# min_count = 1: " in text
    train(config, tmp_path / "OUT")
    best = spacy.load(tmp_path / "OUT" / "model-best")
    assert best.meta["performance"]["ents_f"] > 0.3


def test_options_win(corpora: tuple[Path, Path], tmp_path: Path) -> None:
    config = tmp_path / "x.cfg"
    run(
        config, "--train", corpora[0], "--lang", "de", "--recipe", "crf", "--domain", "general",
        "--large", "--labels", "PER,ORG",
    )  # fmt: skip
    found = load_config(config)
    assert found["nlp"]["lang"] == "de"
    assert found["nlp"]["pipeline"] == ["cascade_segmenter"]
    assert found["components"]["cascade_segmenter"]["model"]["min_count"] == 20
    assert found["components"]["cascade_segmenter"]["gold_labels"] == ["ORG", "PER"]


@pytest.mark.slow(kind="commands")
@pytest.mark.parametrize(
    ("docs", "expected"),
    [
        (named_docs(Vocab(), 10, 1, labels=("X",)), "of 1 type: X 100%"),
        (named_docs(Vocab(), 1, 10), "1 document, 10 sentences"),
        (named_docs(Vocab(), 4, is_marked=False), "no marked sentences"),
        ([*named_docs(Vocab(), 4), Doc(Vocab())], "1 document without words"),
    ],
    ids=["one type", "ten sentences", "no sentences", "empty Docs"],
)
def test_odd_corpora_train(docs: list[Doc], expected: str, tmp_path: Path) -> None:
    """Each with the config that init writes for it, as it is."""
    path = write_docs(tmp_path / "train.spacy", docs)
    config = tmp_path / "x.cfg"
    stdout, _ = run(config, "--train", path, "--dev", path)
    assert expected in stdout
    train(config, tmp_path / "OUT", overrides={"training.max_steps": 1})
    assert spacy.load(tmp_path / "OUT" / "model-best").meta["performance"]["ents_f"] > 0.5


def test_errors_are_one_line(corpora: tuple[Path, Path], tmp_path: Path) -> None:
    known, output = corpora[0], tmp_path / "x.cfg"
    bare = write_docs(tmp_path / "bare.spacy", [Doc(Vocab(), words=["a"])])
    check_errors(
        partial(run, output),
        (("--train", bare), "bare.spacy has no entities in doc.ents"),
        (("--train", known, "--dev", bare), "nothing to score on"),
        (("--train", tmp_path / "no.spacy"), "There is no corpus at"),
        (("--train", known, "--labels", "PRE"), "The nearest label that it has is 'PER'"),
        (("--train", known, "--lang", "klingon"), "the language 'klingon'"),
        (("--dev", known), "--dev needs a corpus to train on"),
        (("--auto",), "--auto needs a corpus to train on"),
        (("--train", known, "--dev", known, "--auto", "--trainings", 0), "1 training or more"),
    )
    assert not output.exists()


def test_wrong_answers_are_named_at_once(
    corpora: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(init, "_is_terminal", lambda: True)
    bare = write_docs(tmp_path / "bare.spacy", [Doc(Vocab(), words=["a"])])
    asked, by_options = tmp_path / "asked.cfg", tmp_path / "options.cfg"
    answers = [
        tmp_path / "no.spacy", bare, corpora[0],  # to train on
        bare, corpora[1],  # to score on
        "klingon", "en", "best", "ocr", "n", "PER, LOK", "PER, LOC",
    ]  # fmt: skip
    stdout, _ = run(asked, answers="".join(f"{answer}\n" for answer in answers))
    for reason in (
        "There is no corpus at", "nothing to learn", "nothing to score on",
        "the language 'klingon'", "'best' is none of memb, semi, memm, ocr, crf",
        "The nearest label that it has is 'LOC'",
    ):  # fmt: skip
        assert stdout.count(reason) == 1
    run(
        by_options, "--train", corpora[0], "--dev", corpora[1], "--recipe", "ocr",
        "--labels", "PER,LOC",
    )  # fmt: skip
    assert config_text(load_config(asked)) == config_text(load_config(by_options))
    assert "# lang = en: the text has" in asked.read_text(encoding="utf8")  # not "as given"
