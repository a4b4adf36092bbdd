"""Two views that teach each other, and the product of their pipelines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from spacy.tokens import Doc

from helpers import blank, bounds, gold_doc, make_doc
from spacy_cascade.systems.unlabelled import teachers
from spacy_cascade.systems.unlabelled.opinions import Opinion
from spacy_cascade.systems.unlabelled.pseudo_labels import Confidence
from spacy_cascade.systems.unlabelled.teachers import Views, multiply

TEXT = "STAT5 binds AP-1"
LIKELY = {
    "internal": {(0, 1, "protein"): 0.9, (2, 3, "DNA"): 0.4},
    "external": {(2, 3, "DNA"): 0.8},
    "finished product": {(0, 1, "protein"): 0.6},
    "student": {(0, 1, "protein"): 0.2, (2, 3, "DNA"): 0.5},
}


def test_each_view_learns_what_the_other_one_was_sure_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the round before. A pipeline is its name here."""
    vocab = blank().vocab
    labelled, docs = [gold_doc(vocab, "p53 binds", [(0, 1, "protein")])], [make_doc(vocab, TEXT)]
    seen: list[tuple[str, list[Any]]] = []

    def train(config: Any, docs: Sequence[Doc]) -> Any:
        assert docs[0] is labelled[0]
        seen.append((config, [bounds(doc.ents) for doc in docs[1:]]))
        return config

    def opinions_of(name: str, docs: Sequence[Doc]) -> list[Opinion]:
        return [Opinion(LIKELY[name], np.ones(len(doc))) for doc in docs]

    monkeypatch.setattr(teachers, "opinions_of", opinions_of)
    monkeypatch.setattr(teachers, "multiply", lambda config, views: config)
    configs: Any = ("internal", "external")
    product: Any = "product"
    student: Any = "student"
    finish: Any = "finished {}".format
    views = Views(train, configs, labelled, Confidence(0.5), product, finish)
    for _ in range(2):
        (found,) = views.opinions(student, docs)
        assert views.alternative == "finished product"
        assert found.confidences == pytest.approx({(0, 1, "protein"): 0.4, (2, 3, "DNA"): 0.25})
    assert seen == [
        ("internal", []),
        ("external", []),
        ("internal", [[(2, 3, "DNA")]]),
        ("external", [[(0, 1, "protein")]]),
    ]


def test_other_components_of_a_product_are_those_of_the_first_pipeline() -> None:
    made = [blank() for _ in range(3)]
    for nlp, sign in zip(made, ".!?", strict=True):
        nlp.add_pipe("sentencizer", config={"punct_chars": [sign]})
    template, *members = made
    found = multiply(template.config, members)
    assert found.get_pipe("sentencizer").punct_chars == {"!"}
