"""`spacy cascade rerank train` on the sample corpus."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config

from commands import run_command
from helpers import PROJECT, annotations, write_sample

STAGES = ["cascade_segmenter", "cascade_classifier"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Parts of the sample corpus and a pipeline trained on them, after a component of its own."""
    folder = tmp_path_factory.mktemp("reranker")
    paths = {part: str(write_sample(folder / f"{part}.spacy", part)) for part in ("train", "dev")}
    config = load_config(
        PROJECT / "configs/ocr.cfg",
        overrides={
            "paths.train": paths["train"],
            "paths.dev": paths["dev"],
            "components.cascade_segmenter.model.min_count": 1,
            "components.cascade_classifier.model.min_count": 1,
            "training.max_epochs": 2,
        },
    )
    nlp = init_nlp(config)
    (folder / "model").mkdir()
    train(nlp, folder / "model")
    with_ruler = spacy.load(folder / "model/model-last")
    ruler = with_ruler.add_pipe("span_ruler", first=True)
    ruler.add_patterns([{"label": "GREETING", "pattern": "hello"}])
    with_ruler.to_disk(folder / "with_ruler")
    return folder


run = partial(run_command, "rerank", "train")


def reranker_of(nlp: Language):
    return nlp.get_pipe("cascade_reranker")


@pytest.mark.slow(kind="commands")
def test_it_writes_a_pipeline_that_reranks(folder: Path, tmp_path: Path) -> None:
    data = (folder / "train.spacy", folder / "dev.spacy")
    settings = ["--folds", "2", "--n-best", "3", "--passes", "2", "--scale", "1", "--weight", "1"]
    stdout, _ = run(folder / "with_ruler", *data, tmp_path / "out", *settings)
    assert "Entity F1 by scale and weight (rows) and number of passes (columns)" in stdout
    last = stdout.splitlines()[-1]
    assert "scale 1, weight 1" in last
    assert "without reranking" in last
    nlp = spacy.load(tmp_path / "out")
    assert nlp.pipe_names == ["sentencizer", "span_ruler", *STAGES, "cascade_reranker"]
    assert reranker_of(nlp).is_trained
    assert reranker_of(nlp).labels == nlp.get_pipe("cascade_classifier").labels
    assert nlp.config["components"]["cascade_segmenter"]["n_best"] == 3
    doc = nlp("hello IL-2 gene")
    assert "GREETING" in {span.label_ for span in doc.spans["ruler"]}
    run(folder / "with_ruler", *data, tmp_path / "again", *settings)
    assert annotations(spacy.load(tmp_path / "again")) == annotations(nlp)
    assert reranker_of(spacy.load(tmp_path / "again")).to_bytes() == reranker_of(nlp).to_bytes()
