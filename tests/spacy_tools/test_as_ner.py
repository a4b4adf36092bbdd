"""A classifier under the name `ner`, for tools that look for a component of that name."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy
import srsly
from spacy.language import Language
from spacy.tokens import DocBin

from helpers import (
    SENTENCES,
    SMALL,
    add_segmenter,
    blank,
    bounds,
    gold_doc,
    make_examples,
    run_spacy,
    train,
)

LABELS = ["DNA", "cell", "protein"]


@pytest.fixture(scope="module")
def nlp() -> Language:
    nlp = blank()
    add_segmenter(nlp)
    nlp.add_pipe("cascade_classifier", name="ner", config=SMALL)
    train(nlp, make_examples(nlp))
    return nlp


@pytest.fixture(scope="module")
def model(nlp: Language, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("as_ner") / "model"
    nlp.to_disk(path)
    return path


def test_it_is_found_by_its_name(nlp: Language, model: Path) -> None:
    for pipeline in (nlp, spacy.load(model)):
        assert pipeline.pipe_labels["ner"] == LABELS
        assert pipeline.meta["labels"]["ner"] == LABELS
        assert list(pipeline.get_pipe("ner").labels) == LABELS
        assert bounds(pipeline(SENTENCES[0][0]).ents) == SENTENCES[0][1]


def test_it_is_switched_off_and_sourced_by_its_name(nlp: Language, model: Path) -> None:
    with nlp.select_pipes(disable="ner"):
        assert not nlp(SENTENCES[0][0]).ents
    other = spacy.load(model, exclude=["ner"])
    assert other.pipe_names == ["cascade_segmenter"]
    other.add_pipe("ner", source=nlp)
    assert bounds(other(SENTENCES[0][0]).ents) == SENTENCES[0][1]


def test_losses_and_scores_have_its_name(model: Path) -> None:
    nlp = spacy.load(model)
    examples = make_examples(nlp)
    assert "ner" in nlp.update(examples)
    scores = nlp.evaluate(examples, per_component=True)
    assert scores["ner"]["ents_f"] == 1.0


@pytest.mark.slow(kind="commands")
def test_commands_take_its_name(model: Path, tmp_path: Path) -> None:
    vocab = blank().vocab
    data = tmp_path / "dev.spacy"
    DocBin(docs=[gold_doc(vocab, *sentence) for sentence in SENTENCES]).to_disk(data)
    shown = run_spacy("find-threshold", model, data, "ner", "threshold", "ents_r")
    assert "Best threshold: 0.0 with ents_r value of 1.0" in shown
    run_spacy("evaluate", model, data, "--per-component", "--output", tmp_path / "parts.json")
    assert srsly.read_json(tmp_path / "parts.json")["ner"]["ents_f"] == 1.0
    run_spacy("cascade", "calibrate", model, tmp_path / "calibrated", "--dev", data)
    shown = run_spacy("cascade", "evaluate", tmp_path / "calibrated", data)
    assert "ents_f 100.00" in shown
