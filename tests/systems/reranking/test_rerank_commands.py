"""`spacy cascade rerank tune` and `rerank train` from the command line."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config

from commands import check_errors, run_command
from helpers import PROJECT, SENTENCES, TEXTS, annotations, blank, gold_doc, write_sample
from spacy_cascade.systems.reranking import training, tuning
from spacy_cascade.systems.reranking.training import Trained, Trial
from spacy_cascade.systems.reranking.tuning import Tuned
from spacy_cascade.workflows.reconfigure import with_settings


@pytest.fixture(scope="module")
def model(trained: Language, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its scores are those of another corpus."""
    path = tmp_path_factory.mktemp("model")
    copy = with_settings(trained)
    copy.meta["performance"] = {"ents_f": 0.25}
    copy.to_disk(path)
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    vocab = blank().vocab
    docs = [gold_doc(vocab, text, spans) for text, spans in SENTENCES]
    DocBin(docs=docs).to_disk(tmp_path / "dev.spacy")
    return tmp_path / "dev.spacy"


run = partial(run_command, "rerank", "tune")
run_train = partial(run_command, "rerank", "train")


def test_it_writes_a_tuned_pipeline(model: Path, data: Path, tmp_path: Path) -> None:
    output = tmp_path / "tuned"
    settings = ["--weight", "0.5", "--weight", "1", "--n-best", "1", "--n-best", "3"]
    stdout, stderr = run(model, output, "--dev", data, *settings)
    assert stderr == ""
    assert "Entity F1 by n_best (rows) and weight (columns)" in stdout
    last = stdout.splitlines()[-1]
    assert last.endswith(f"n_best 1, weight 0.5: F1 100.00, without reranking 100.00 -> {output}")
    tuned = spacy.load(output)
    assert tuned.pipe_names == ["cascade_segmenter", "cascade_classifier", "cascade_reranker"]
    assert tuned.meta["performance"] == {"ents_f": 1.0}
    assert [found["ents"] for found in annotations(tuned, TEXTS)] == [s for _, s in SENTENCES]
    # A reranker that is there is not made worse: its own settings are tried beside the others.
    run(output, tmp_path / "again", "--dev", data, "--weight", "1e7", "--n-best", "8")
    assert spacy.load(tmp_path / "again").get_pipe("cascade_reranker").weight == 0.5


def test_a_reranker_that_makes_it_worse_is_not_saved(
    model: Path, data: Path, tmp_path: Path
) -> None:
    """Every type adds to the costs of a hypothesis, so with a large weight the empty one wins."""
    stdout, _ = run(model, tmp_path / "o", "--dev", data, "--weight", "1e7", "--n-best", "8")
    assert "Reranking lowers F1 to" in stdout
    assert f"Without reranking: F1 100.00 -> {tmp_path / 'o'}" in stdout
    kept = spacy.load(tmp_path / "o")
    assert kept.pipe_names == ["cascade_segmenter", "cascade_classifier"]
    assert [found["ents"] for found in annotations(kept, TEXTS)] == [s for _, s in SENTENCES]


TRIALS = [
    Trial(1.0, 0.5, [0.5, 0.625, 0.75]),
    Trial(2.5, 1.5, [0.25, 0.875, 0.5]),
]
TABLE = """\
   scale  weight      1      2      3
       1     0.5  50.00  62.50  75.00
     2.5     1.5  25.00  87.50  50.00"""
GIVEN = {"folds": 3, "n_best": 5, "passes": 3, "scales": [1.0, 2.5], "weights": [0.5]}
USUAL = {"folds": 4, "n_best": 6, "passes": 8, "scales": (1.0, 2.5), "weights": (0.5, 1.0, 1.5)}


@pytest.mark.parametrize(
    ("options", "settings"),
    [("--folds 3 --n-best 5 --passes 3 --scale 1 --scale 2.5 --weight 0.5", GIVEN), ("", USUAL)],
)
def test_it_shows_what_each_pass_of_training_gave(
    model: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    options: str, settings: dict[str, Any],
) -> None:  # fmt: skip
    """And writes the pipeline with its own scores."""
    asked: list[Any] = []

    def train(nlp: Language, *paths: Path, **given: Any) -> tuple[Language, Trained]:
        asked.append((*paths, given))
        return nlp, Trained(0.5, TRIALS, (TRIALS[1], 2))

    monkeypatch.setattr(training, "train_reranker", train)
    paths = "--train", tmp_path / "train.spacy", "--dev", data
    stdout, _ = run_train(model, tmp_path / "out", *paths, *options.split())
    assert asked == [(paths[1], paths[3], settings)]
    title, *table, last = stdout.splitlines()
    assert title.endswith("Entity F1 by scale and weight (rows) and number of passes (columns)")
    assert "\n".join(table) == TABLE
    assert "scale 2.5, weight 1.5, 2 passes: F1 87.50, without reranking 50.00" in last
    assert spacy.load(tmp_path / "out").meta["performance"] == {"ents_f": 1.0}


@pytest.mark.parametrize(
    ("options", "given"),
    [("--weight 0.5 --n-best 2", ([0.5], [2])), ("", (tuning.WEIGHTS, tuning.SIZES))],
)
def test_it_shows_the_grid(
    model: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    options: str, given: tuple[Any, Any],
) -> None:  # fmt: skip
    asked: list[Any] = []
    grid = {(2, 1.0): 0.5, (2, 0.25): 0.75, (11, 1.0): 0.625, (11, 0.25): 1.0}

    def tune(nlp: Language, examples: Any, *settings: Any) -> tuple[Language, Tuned]:
        asked.append(settings)
        return nlp, Tuned(11, 0.25, 0.5, 1.0, grid)

    monkeypatch.setattr(tuning, "tune_reranker", tune)
    stdout, _ = run(model, tmp_path / "out", "--dev", data, *options.split())
    assert asked == [given]
    _, *table, last = stdout.splitlines()
    assert table == ["        0.25      1", "    2  75.00  50.00", "   11 100.00  62.50"]
    assert "n_best 11, weight 0.25: F1 100.00, without reranking 50.00" in last


def test_errors_are_one_line(model: Path, data: Path, tmp_path: Path) -> None:
    blank().to_disk(tmp_path / "blank")
    tuned = (tmp_path / "o", "--dev", data)
    check_errors(
        run,
        ((tmp_path / "blank", *tuned), "needs a cascade_segmenter"),
        ((tmp_path / "nowhere", *tuned), "nowhere"),
        ((model, *tuned, "--n-best", "200"), "from 1 to 100"),
    )
    learnt = (*tuned, "--train", data)
    check_errors(
        run_train,
        ((tmp_path / "blank", *learnt), "needs a cascade_segmenter"),
        ((model, *learnt, "--n-best", "200"), "from 1 to 100"),
        ((model, *learnt, "--folds", "1"), "2 folds"),
        ((model, *learnt, "--passes", "0"), "1 pass or more, not 0"),
        ((model, *learnt, "--folds", "5000"), "too few for 5000 folds"),
    )
    assert not (tmp_path / "o").exists()


@pytest.mark.slow(kind="commands")
def test_training_writes_a_pipeline_that_reranks(tmp_path: Path) -> None:
    """After a component of its own, which stays."""
    paths = [write_sample(tmp_path / f"{part}.spacy", part) for part in ("train", "dev")]
    names = ("cascade_segmenter", "cascade_classifier")
    config = load_config(
        PROJECT / "configs/ocr.cfg",
        overrides={
            "paths.train": str(paths[0]), "paths.dev": str(paths[1]), "training.max_epochs": 2,
            **{f"components.{name}.model.min_count": 1 for name in names},
        },
    )  # fmt: skip
    (tmp_path / "model").mkdir()
    train(init_nlp(config), tmp_path / "model")
    with_ruler = spacy.load(tmp_path / "model/model-last")
    ruler = with_ruler.add_pipe("span_ruler", first=True)
    ruler.add_patterns([{"label": "GREETING", "pattern": "hello"}])
    with_ruler.to_disk(tmp_path / "with_ruler")
    corpora = ["--train", paths[0], "--dev", paths[1]]
    settings = ["--folds", "2", "--n-best", "3", "--passes", "2", "--scale", "1", "--weight", "1"]
    stdout, _ = run_train(tmp_path / "with_ruler", tmp_path / "out", *corpora, *settings)
    assert "Entity F1 by scale and weight (rows) and number of passes (columns)" in stdout
    last = stdout.splitlines()[-1]
    assert "scale 1, weight 1" in last
    assert "without reranking" in last
    nlp = spacy.load(tmp_path / "out")
    assert nlp.pipe_names == ["span_ruler", *names, "cascade_reranker"]
    reranker = nlp.get_pipe("cascade_reranker")
    assert reranker.is_trained
    assert reranker.labels == nlp.get_pipe("cascade_classifier").labels
    assert nlp.config["components"]["cascade_segmenter"]["n_best"] == 3
    doc = nlp("hello IL-2 gene")
    assert "GREETING" in {span.label_ for span in doc.spans["ruler"]}
    run_train(tmp_path / "with_ruler", tmp_path / "again", *corpora, *settings)
    again = spacy.load(tmp_path / "again")
    assert annotations(again) == annotations(nlp)
    assert again.get_pipe("cascade_reranker").to_bytes() == reranker.to_bytes()
