"""Options that say which gold spans are learnt: levels, and parts of discontinuous annotations."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from spacy.language import Language
from spacy.tokens import Span
from spacy.training import Example

from helpers import SMALL, blank, bounds, make_doc, train
from spacy_cascade.pipeline.spans.parts import part_id

TEXT = "The left and right lung of Ada hurt ."
NESTED = [(0, 7, "organ"), (4, 5, "organ"), (6, 7, "person")]


def example_of(nlp: Language, spans: list[tuple[int, int, str, str]]) -> Example:
    reference = make_doc(nlp.vocab, TEXT)
    reference.spans["gold"] = [Span(reference, s, e, label, span_id=i) for s, e, label, i in spans]
    return Example(make_doc(nlp.vocab, TEXT), reference)


def segmenter_with(nlp: Language, **settings: Any) -> Any:
    return nlp.add_pipe("cascade_segmenter", config={**SMALL, "gold_key": "gold", **settings})


@pytest.mark.parametrize(
    ("level", "expected"),
    [("innermost", [(4, 5, "ENT"), (6, 7, "ENT")]), ("outermost", [(0, 7, "ENT")])],
)
def test_a_level_is_learnt(level: str, expected: list[Any]) -> None:
    nlp = blank()
    segmenter_with(nlp, gold_level=level)
    train(nlp, [example_of(nlp, [(*span, "") for span in NESTED])] * 2, updates=4)
    doc = nlp(make_doc(nlp.vocab, TEXT))
    assert bounds(doc.spans["cascade"]) == expected


DISCONTINUOUS = [
    (1, 2, "organ", part_id("T1")), (4, 5, "organ", part_id("T1")), (6, 7, "person", ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("parts", "expected", "n_observed", "what"),
    [
        ("neither", [(6, 7, "person")], 7, "nothing"),
        ("covering", [(1, 5, "organ"), (6, 7, "person")], 9, "from its first to its last word"),
        ("parts", [(1, 2, "organ"), (4, 5, "organ"), (6, 7, "person")], 9, "all parts"),
    ],
)
def test_what_is_learnt_of_discontinuous_annotations(
    parts: str,
    expected: list[Any],
    n_observed: int,
    what: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(logging.getLogger("spacy"), "propagate", True)
    caplog.set_level(logging.INFO)
    nlp = blank()
    segmenter = segmenter_with(nlp, gold_parts=parts, typed=True)
    example = example_of(nlp, DISCONTINUOUS)
    for _ in range(2):
        gold = segmenter.gold.read(example)
    assert gold.spans == expected
    assert gold.observed.sum() == n_observed
    assert caplog.text.count("meets discontinuous annotations") == 1
    assert what in caplog.text
    train(nlp, [example] * 2, updates=4)
    doc = nlp(make_doc(nlp.vocab, TEXT))
    assert [s for s in bounds(doc.spans["cascade"]) if s in expected] == expected
    assert nlp.evaluate([example])["segments_f"] == 1.0


def test_types_of_parts_are_learnt_and_scored() -> None:
    nlp = blank()
    segmenter_with(nlp, gold_parts="covering")
    config = {**SMALL, "gold_key": "gold", "gold_parts": "covering"}
    classifier: Any = nlp.add_pipe("cascade_classifier", config=config)
    example = example_of(nlp, DISCONTINUOUS)
    train(nlp, [example] * 2, updates=4)
    scores = nlp.evaluate([example])
    assert scores["spans_cascade_f"] == scores["types_acc"] == 1.0
    classifier.gold_parts = "parts"
    assert nlp.evaluate([example])["spans_cascade_f"] < 1.0
