"""What levels are judged by, and when they take part: outcomes, thresholds, untrained models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from nested_corpus import (
    LEVELS,
    NESTED,
    SEGMENTER,
    nested_examples,
    nested_pipeline,
    trained_levels,
)
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from helpers import bounds, make_doc, make_examples, train


@pytest.fixture(scope="module")
def nlp() -> Language:
    nlp = trained_levels()
    nlp.get_pipe(LEVELS).temperature = 4.0  # type: ignore[attr-defined]
    return nlp


def seen(nlp: Language, examples: list[Example]) -> list[Example]:
    """With the innermost spans."""
    segmenter = nlp.get_pipe(SEGMENTER)
    return [Example(segmenter(example.predicted), example.reference) for example in examples]


def outcomes(nlp: Language, examples: list[Example]) -> Any:
    return nlp.get_pipe(LEVELS).outcomes(seen(nlp, examples))  # type: ignore[attr-defined]


def test_spans_that_gold_has_are_right(nlp: Language) -> None:
    """By level, and by sentence within one: the second level has the last three."""
    found = outcomes(nlp, nested_examples(nlp))
    assert found.right.tolist() == [True] * 8
    known = [(text, [s for s in spans if s[2] != "group"]) for text, spans in NESTED]
    found = outcomes(nlp, make_examples(nlp, known, "gold"))
    assert found.right.tolist() == [True, False, True, False, True, True, True, True]
    cool, warm = found.confidences(1.0), found.confidences(4.0)
    assert len(cool) == 8
    assert (warm < cool).all()
    docs = [example.predicted for example in seen(nlp, nested_examples(nlp))]
    predicted = nlp.get_pipe(LEVELS).predict(docs)  # type: ignore[attr-defined]
    expected = np.concatenate([segments.confidences for segments in predicted])
    np.testing.assert_allclose(sorted(warm), sorted(expected))


def test_spans_whose_tokens_gold_does_not_express_are_left_out(nlp: Language) -> None:
    """Here a word is cut in two, and only a part of it is a gold span."""
    text, spans = NESTED[1]
    words = text.split()
    reference = Doc(
        nlp.vocab,
        words=[*words[:4], "Ba", "nk", *words[5:]],
        spaces=[True] * 4 + [False] + [True] * (len(words) - 4),
    )
    reference.spans["gold"] = [Span(reference, 4, 5, "group")]
    cut = Example(make_doc(nlp.vocab, text), reference)
    (whole,) = make_examples(nlp, [NESTED[2]], "gold")
    assert outcomes(nlp, [cut, whole]).right.tolist() == [True]
    assert not len(outcomes(nlp, [cut]).right)
    assert len(spans) == 3


def test_a_span_below_the_threshold_does_not_stop_the_others(nlp: Language) -> None:
    levels: Any = nlp.get_pipe(LEVELS)
    docs = [example.predicted for example in seen(nlp, nested_examples(nlp))]
    free = levels.predict(docs)
    flat = [(i, s, e) for i, each in enumerate(free) for s, e, _ in zip(*each.spans, strict=True)]
    sure = np.concatenate([each.confidences for each in free])
    least = int(sure.argmin())
    try:
        levels.threshold = float(np.sort(sure)[:2].mean())
        found = levels.predict(docs)
    finally:
        levels.threshold = 0.0
    kept = [(i, s, e) for i, each in enumerate(found) for s, e, _ in zip(*each.spans, strict=True)]
    others = [row for row in flat if row[0] != flat[least][0]]
    assert [row for row in kept if row[0] != flat[least][0]] == others
    assert flat[least] not in kept


def test_a_flat_corpus_gives_levels_nothing_to_do() -> None:
    nlp = nested_pipeline()
    flat = [(text, [span for span in spans if span[1] - span[0] == 1]) for text, spans in NESTED]
    examples = make_examples(nlp, flat, "gold")
    train(nlp, examples)
    levels: Any = nlp.get_pipe(LEVELS)
    assert not len(outcomes(nlp, examples).right)
    assert levels.finders == [nlp.get_pipe(SEGMENTER)]
    assert not levels.model.has_param("W")


def test_it_can_be_initialized_without_examples() -> None:
    nlp = nested_pipeline()
    nlp.initialize()
    for name in (SEGMENTER, LEVELS):
        assert nlp.get_pipe(name).model.has_param("W")  # type: ignore[attr-defined]
    for _ in range(5):
        nlp.update(nested_examples(nlp))
    for text, spans in NESTED:
        doc = nlp(make_doc(nlp.vocab, text))
        assert bounds(doc.spans["cascade"]) == sorted(spans, key=lambda s: (s[0], -s[1]))


def test_what_an_online_trainer_has_learnt_counts_at_once() -> None:
    online = {
        "trainer": {"@misc": "spacy_cascade.PassiveAggressive.v1", "C": 1.0, "passes": 20},
        "loss": {"@misc": "spacy_cascade.Hinge.v2"}, "penalty": None,
    }  # fmt: skip
    nlp = nested_pipeline(levels=online)
    examples = nested_examples(nlp)
    train(nlp, examples, updates=1)
    docs = [example.predicted for example in seen(nlp, examples)]
    levels: Any = nlp.get_pipe(LEVELS)
    assert sum(len(found.spans.start) for found in levels.predict(docs)) == 8
