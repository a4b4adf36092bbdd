"""Batches are decoded in parts of whole sentences, which changes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

from helpers import (
    TEXTS,
    add_segmenter,
    annotation,
    blank,
    make_doc,
    make_examples,
    train,
)
from spacy_cascade.errors import NotTrainedError
from spacy_cascade.pipeline import decoding
from structures import segmenter_of

WHOLE = 1 << 30
NEW = "Both T cells and the STAT5 site bind Jurkat p53 cells . IL-2 gene of Jurkat cells ."


@pytest.fixture(scope="module")
def model(trained: Language, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("parts") / "model"
    trained.to_disk(path)
    return path


def docs_of(nlp: Language) -> list[Doc]:
    """Some with sentences, one without tokens, some with entities already."""
    texts = [*TEXTS, "", " ".join(TEXTS), NEW, NEW]
    docs = []
    for number, text in enumerate(texts):
        words = text.split()
        starts = [i for i, word in enumerate([".", *words[:-1]]) if word == "."]
        doc = make_doc(nlp.vocab, text, starts if number % 3 else ())
        if number % 2 and len(doc) > 3:
            doc.set_ents([Span(doc, 1, 3, "DNA")])
        docs.append(doc)
    return docs


def written(doc: Doc) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """All that a pipeline writes, with the attributes of groups."""
    attributes = {
        key: {name: np.asarray(value).tolist() for name, value in group.attrs.items()}
        for key, group in doc.spans.items()
    }
    return annotation(doc), attributes


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"threshold": 0.6, "temperature": 3.0},
        {"overlapping": True, "temperature": 3.0},
        {"constrained": True, "n_best": 3},
    ],
)
def test_parts_give_what_the_whole_gives(
    options: dict[str, Any], model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nlp = spacy.load(model, config={"components": {"cascade_segmenter": options}})
    check_parts(nlp, monkeypatch)


@pytest.mark.parametrize("kind", ["memm", "semi"])
def test_other_structures(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = segmenter_of(kind, n_best=2)
    train(nlp, make_examples(nlp), updates=1)
    check_parts(nlp, monkeypatch)


def check_parts(nlp: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for size in (WHOLE, 1, 7):
        monkeypatch.setattr(decoding, "PART", size)
        found.append([written(doc) for doc in nlp.pipe(docs_of(nlp))])
    assert found[0] == found[1] == found[2]


def test_no_weights_are_noticed_before_any_part() -> None:
    nlp = blank()
    segmenter = add_segmenter(nlp)
    for text in ("", "no weights yet"):
        with pytest.raises(NotTrainedError):
            segmenter.predict([make_doc(nlp.vocab, text)])
