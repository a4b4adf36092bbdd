"""`spacy cascade jackknife`: its files, options and messages."""

from __future__ import annotations

from pathlib import Path

import pytest
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab
from typer.testing import CliRunner

from helpers import PROJECT
from spacy_cascade.cli import app

CONFIG = PROJECT / "configs/tagger.cfg"
SETTINGS = ("--components.cascade_tagger.model.min_count", 1, "--training.max_epochs=2")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("jackknife") / "corpus.spacy"
    vocab = Vocab()
    docs = [Doc(vocab, words=[f"w{i}", "binds"], tags=["NN", "VBZ"]) for i in range(4)]
    DocBin(docs=docs).to_disk(path)
    return path


def run(*arguments: object, exit_code: int = 0) -> tuple[str, str]:
    result = CliRunner().invoke(app, ["jackknife", *map(str, arguments)])
    assert result.exit_code == exit_code, result.output
    return result.stdout, result.stderr


def test_it_writes_the_corpus_and_says_how_good_it_is(corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "new/out.spacy"
    stdout, _ = run(CONFIG, corpus, corpus, output, "--folds", 2, *SETTINGS)
    assert "4 Docs in 2 folds with 2 trainings, tags accuracy 100.00 -> " in stdout
    assert stdout.count("\n") == 1
    docs = list(DocBin().from_disk(output).get_docs(Vocab()))
    assert [[token.tag_ for token in doc] for doc in docs] == [["NN", "VBZ"]] * 4
    assert [doc[0].text for doc in docs] == ["w0", "w1", "w2", "w3"]


def test_another_corpus_to_learn_from(corpus: Path, tmp_path: Path) -> None:
    vocab = Vocab()
    untagged = tmp_path / "untagged.spacy"
    DocBin(docs=[Doc(vocab, words=["it", "binds"])] * 2).to_disk(untagged)
    output = tmp_path / "out.spacy"
    stdout, _ = run(CONFIG, untagged, corpus, output, "--folds", 2, "--train", corpus, *SETTINGS)
    assert "2 Docs in 2 folds with 1 training, tags (no gold) -> " in stdout
    assert [doc[1].tag_ for doc in DocBin().from_disk(output).get_docs(vocab)] == ["VBZ", "VBZ"]


def test_errors_are_one_line(corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "o/out.spacy"
    data = (CONFIG, corpus, corpus, output)
    for arguments, message in (
        ((*data, "--folds", 5), "too few for 5 folds"),
        ((*data, "--flods", 5), "no option or argument --flods"),
        ((*data, "stray"), "no option or argument stray"),
        ((*data, "--train.x", 5, 6), "no option or argument 6"),
        ((*data, "--nowhere.x", 5), "nowhere -> x"),
        ((*data, "--folds", 2, "--components.cascade_tagger.overwrite", "[1]"), "overwrite"),
        ((*data, "--folds", 2, "--train", tmp_path / "nowhere.spacy"), "nowhere.spacy"),
        ((tmp_path / "nowhere.cfg", corpus, corpus, output), "nowhere.cfg"),
        ((CONFIG, corpus, corpus, tmp_path / "out.json"), "does not end in .spacy"),
        ((CONFIG, corpus, tmp_path / "nodev.spacy", output, "--folds", 2), "nodev.spacy"),
    ):
        _, stderr = run(*arguments, exit_code=1)
        assert message in stderr
        assert stderr.count("\n") == 1
    assert not output.exists()


def test_help() -> None:
    text = " ".join(run("--help")[0].split())
    for part in ("--train", "--folds", "CORPUS.spacy", "doc.ents too", "take the place"):
        assert part in text
