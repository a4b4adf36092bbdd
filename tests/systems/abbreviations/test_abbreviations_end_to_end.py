"""Abbreviations in a pipeline: their long forms tell what they are, wherever they stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language

from helpers import SMALL, annotation, cascade, make_doc, make_examples, train
from spacy_cascade.features import template_sets

PAIRS = [
    ("dendritic cells", "DCs", "cell"),
    ("heat shock protein", "HSP", "protein"),
    ("natural killer cells", "NKCs", "cell"),
    ("nuclear factor protein", "NFP", "protein"),
    ("mast cells", "MCs", "cell"),
    ("tumour antigen protein", "TAP", "protein"),
]
UNSEEN = [("cord blood cells", "CBCs", "cell"), ("growth arrest protein", "GAP", "protein")]


def sentence(pair: tuple[str, str, str]) -> tuple[str, list[tuple[int, int, str]]]:
    """A text that explains an abbreviation and then uses it, with the entities."""
    long, short, label = pair
    n = len(long.split())
    text = f"we saw {long} ( {short} ) . then {short} grew"
    return text, [(2, 2 + n, label), (3 + n, 4 + n, label), (7 + n, 8 + n, label)]


def of_set(name: str, extra: list[str]) -> dict[str, Any]:
    """Settings of a component with few templates, the named ones among them."""
    templates = {
        "@misc": "spacy_cascade.Templates.v1",
        "templates": ["bias", "lower@-1", "lower@1", "class", *extra],
        "patterns": {},
        "lexicons": {},
    }
    return {**SMALL, "model": {"min_count": 1, "templates": templates}}


@pytest.fixture(scope="module")
def nlp() -> Language:
    made = cascade(
        of_set("segmenter", template_sets.SEGMENTATION_ABBREVIATIONS),
        of_set("classifier", template_sets.CLASSIFICATION_ABBREVIATIONS),
    )
    train(made, make_examples(made, [sentence(pair) for pair in PAIRS]), updates=4)
    return made


def found(nlp: Language, texts: list[str], **options: Any) -> list[dict[str, Any]]:
    docs = [make_doc(nlp.vocab, text) for text in texts]
    return [annotation(doc) for doc in nlp.pipe(docs, **options)]


TEXTS = [sentence(pair)[0] for pair in (*UNSEEN, *PAIRS)] + ["then GAP grew", "then CBCs grew", ""]


@pytest.mark.parametrize("pair", UNSEEN)
def test_the_long_form_tells_the_type(nlp: Language, pair: tuple[str, str, str]) -> None:
    """None of these short forms was seen in training, nor what makes them differ."""
    text, entities = sentence(pair)
    doc = nlp(make_doc(nlp.vocab, text))
    labels = [span.label_ for span in doc.ents if span.text == pair[1]]
    assert labels == [pair[2]] * 2
    assert {(e.start, e.end, e.label_) for e in doc.ents} >= set(entities[1:])


def test_batches_memory_zones_and_saving_change_nothing(nlp: Language, tmp_path: Path) -> None:
    alone = [found(nlp, [text])[0] for text in TEXTS]
    assert found(nlp, TEXTS, batch_size=3) == alone
    assert found(nlp, TEXTS[::-1]) == alone[::-1]
    for _ in range(2):
        with nlp.memory_zone():
            assert found(nlp, TEXTS) == alone
    nlp.to_disk(tmp_path)
    assert found(spacy.load(tmp_path), TEXTS) == alone
