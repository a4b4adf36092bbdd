"""`spacy cascade rerank tune` from its command line."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin

from commands import check_errors, run_command
from helpers import SENTENCES, TEXTS, annotations, blank, gold_doc, trained_cascade


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model")
    trained_cascade().to_disk(path)
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    vocab = blank().vocab
    docs = [gold_doc(vocab, text, spans) for text, spans in SENTENCES]
    DocBin(docs=docs).to_disk(tmp_path / "dev.spacy")
    return tmp_path / "dev.spacy"


run = partial(run_command, "rerank", "tune")


def test_it_writes_a_tuned_pipeline(model: Path, data: Path, tmp_path: Path) -> None:
    output = tmp_path / "tuned"
    settings = ["--weight", "0.5", "--weight", "1", "--n-best", "1", "--n-best", "3"]
    stdout, stderr = run(model, data, output, *settings)
    assert stderr == ""
    assert "Entity F1 by n_best (rows) and weight (columns)" in stdout
    last = stdout.splitlines()[-1]
    assert last.endswith(f"n_best 1, weight 0.5: F1 100.00, without reranking 100.00 -> {output}")
    tuned = spacy.load(output)
    stages = ["cascade_segmenter", "cascade_classifier", "cascade_reranker"]
    assert tuned.pipe_names == ["sentencizer", *stages]
    assert [found["ents"] for found in annotations(tuned, TEXTS)] == [s for _, s in SENTENCES]
    # A reranker that is there is not made worse: its own settings are tried beside the others.
    run(output, data, tmp_path / "again", "--weight", "1e7", "--n-best", "8")
    assert spacy.load(tmp_path / "again").get_pipe("cascade_reranker").weight == 0.5


def test_a_reranker_that_makes_it_worse_is_not_saved(
    model: Path, data: Path, tmp_path: Path
) -> None:
    """Every type adds to the costs of a hypothesis, so with a large weight the empty one wins."""
    stdout, _ = run(model, data, tmp_path / "o", "--weight", "1e7", "--n-best", "8")
    assert "Reranking lowers F1 to" in stdout
    assert f"Without reranking: F1 100.00 -> {tmp_path / 'o'}" in stdout
    kept = spacy.load(tmp_path / "o")
    assert kept.pipe_names == ["cascade_segmenter", "cascade_classifier"]
    assert [found["ents"] for found in annotations(kept, TEXTS)] == [s for _, s in SENTENCES]


def test_errors_are_one_line(model: Path, data: Path, tmp_path: Path) -> None:
    blank().to_disk(tmp_path / "blank")
    more = (data, data, tmp_path / "o")
    check_errors(
        run,
        ((tmp_path / "blank", *more[1:]), "needs a cascade_segmenter"),
        ((tmp_path / "nowhere", *more[1:]), "nowhere"),
        ((model, *more[1:], "--n-best", "200"), "from 1 to 100"),
    )
    check_errors(
        partial(run_command, "rerank", "train"),
        ((tmp_path / "blank", *more), "needs a cascade_segmenter"),
        ((model, *more, "--n-best", "200"), "from 1 to 100"),
        ((model, *more, "--folds", "1"), "2 folds"),
        ((model, *more, "--folds", "5000"), "too few for 5000 folds"),
    )
    assert not (tmp_path / "o").exists()
