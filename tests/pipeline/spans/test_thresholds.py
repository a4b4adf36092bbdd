"""Thresholds on confidences: what is left, by label, and with spaCy's own search."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.cli.find_threshold import find_threshold
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from helpers import (
    SENTENCES,
    TEXTS,
    blank,
    gold_doc,
)
from spacy_cascade import ConfigError


@pytest.fixture(scope="module")
def model(trained: Language, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("thresholds") / "model"
    trained.to_disk(path)
    return path


def load(model: Path, **components: dict[str, Any]) -> Language:
    return spacy.load(model, config={"components": components})


def confident(docs: Iterable[Doc]) -> list[tuple[str, str, float]]:
    return [(e.text, e.label_, e._.confidence) for doc in docs for e in doc.ents]


@pytest.fixture(scope="module")
def found(model: Path) -> list[tuple[str, str, float]]:
    """What the pipeline finds without thresholds, sorted by confidence."""
    return confident(spacy.load(model).pipe(TEXTS))


def middle(found: list[tuple[str, str, float]]) -> float:
    return sorted(confidence for *_, confidence in found)[len(found) // 2]


def test_less_sure_entities_stay_spans(model: Path, found: list[Any]) -> None:
    threshold = middle(found)
    docs = list(load(model, cascade_classifier={"threshold": threshold}).pipe(TEXTS))
    wanted = [entity for entity in found if entity[2] >= threshold]
    assert 0 < len(wanted) < len(found)
    assert confident(docs) == wanted
    typed = [(s.text, s.label_) for doc in docs for s in doc.spans["cascade"]]
    assert typed == [(text, label) for text, label, _ in found]


def test_less_sure_spans_are_dropped(model: Path) -> None:
    spans = [
        (span.text, score)
        for doc in spacy.load(model).pipe(TEXTS, disable=["cascade_classifier"])
        for span, score in zip(
            doc.spans["cascade"], doc.spans["cascade"].attrs["scores"], strict=True
        )
    ]
    threshold = sorted(score for _, score in spans)[len(spans) // 2]
    nlp = load(model, cascade_segmenter={"threshold": threshold})
    docs = list(nlp.pipe(TEXTS))
    left = [span.text for doc in docs for span in doc.spans["cascade"]]
    assert left == [text for text, score in spans if score >= threshold]
    assert 0 < len(left) < len(spans)
    assert all(
        len(doc.spans["cascade"].attrs["scores"]) == len(doc.spans["cascade"]) for doc in docs
    )


def test_each_label_can_have_its_own(model: Path, found: list[Any]) -> None:
    settings = {"threshold": 0.0, "label_thresholds": {"protein": 1.0}}
    left = confident(load(model, cascade_classifier=settings).pipe(TEXTS))
    assert left == [entity for entity in found if entity[1] != "protein"]
    nlp = load(model, cascade_classifier={"label_thresholds": {"RNA": 0.5}})
    with pytest.raises(ConfigError, match="threshold for 'RNA', which it does not know"):
        nlp(TEXTS[0])


def test_spacy_finds_a_threshold(model: Path, tmp_path: Path) -> None:
    vocab = blank().vocab
    path = tmp_path / "dev.spacy"
    DocBin(docs=[gold_doc(vocab, *sentence) for sentence in SENTENCES]).to_disk(path)
    arguments = (model, path, "cascade_classifier", "threshold", "ents_r")
    best, score, scores = find_threshold(*arguments, n_trials=3)
    assert (best, score) == (0.0, 1.0)
    assert scores[1.0] < 1.0


def test_docs_of_another_pipeline_are_annotated(model: Path, found: list[Any]) -> None:
    """With words and labels that one of the two vocabularies does not know."""
    nlp, other = spacy.load(model), blank()
    docs = [other("Unheard-of words : STAT5 binds the AP-1 site ."), *map(other, TEXTS)]
    annotated = confident(nlp.pipe(docs))
    assert [entity[:2] for entity in annotated[-len(found) :]] == [entity[:2] for entity in found]
