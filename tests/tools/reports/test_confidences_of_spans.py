"""Examples as tuples: other tokens, missing annotation, confidences, probabilities, pieces."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.scorer import get_ner_prf
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example

from helpers import (
    SENTENCES,
    Bounds,
    blank,
    cascade,
    gold_doc,
    make_doc,
    make_examples,
    train,
)
from spacy_cascade.pipeline.spans.confidences import confidences_of, key_of
from spacy_cascade.tools.reports.mistakes import count_scores
from spacy_cascade.tools.reports.reading import entity_probabilities, is_annotated, judge, stages_of
from strategies import entities

NLP = blank()
LETTERS = "abcdefgh"


def glued(joined: list[bool], found: list[Bounds]) -> Doc:
    """A Doc of the letters in other tokens; joined: whether each sticks to the one before."""
    words = []
    for letter, sticks in zip(LETTERS, joined, strict=True):
        if sticks and words:
            words[-1] += letter
        else:
            words.append(letter)
    doc = Doc(NLP.vocab, words=words, spaces=[False] * len(words))
    ents = [(s, min(e, len(doc)), t) for s, e, t in found if s < len(doc)]
    doc.set_ents([Span(doc, *ent) for ent in ents], default="outside")
    return doc


def lettered(gold: list[Bounds], unknown: set[int]) -> Doc:
    """A Doc of a letter a token, some of which say nothing about entities."""
    doc = Doc(NLP.vocab, words=list(LETTERS), spaces=[False] * 8)
    ents = [Span(doc, *ent) for ent in gold]
    inside = {token for start, end, _ in gold for token in range(start, end)}
    missing = [Span(doc, t, t + 1) for t in sorted(unknown - inside)]
    doc.set_ents(ents, missing=missing, default="outside")
    return doc


@given(
    st.lists(st.booleans(), min_size=8, max_size=8),
    entities(),
    entities(),
    st.sets(st.integers(0, 7), max_size=3),
)
def test_scores_are_those_of_spacy_whatever_the_tokens(
    joined: list[bool], gold: list[Bounds], predicted: list[Bounds], unknown: set[int]
) -> None:
    example = Example(glued(joined, predicted), lettered(gold, unknown))
    expected = get_ner_prf([example])
    (judged,) = judge(NLP, [example])
    scores = count_scores([judged.comparison]).all
    assert scores.precision == pytest.approx(expected["ents_p"] or 0.0)
    assert scores.recall == pytest.approx(expected["ents_r"] or 0.0)
    assert len(judged.confidences) == len(judged.comparison.predicted)
    assert judged.probabilities == [None] * len(gold)
    for start, end, _ in (*judged.comparison.gold, *judged.comparison.predicted):
        assert sum(first <= start and end <= last for first, last in judged.pieces) == 1


def test_docs_without_annotation_are_known() -> None:
    doc = make_doc(NLP.vocab, "a b")
    assert not is_annotated(Example(doc, make_doc(NLP.vocab, "a b")))
    assert is_annotated(Example(doc, gold_doc(NLP.vocab, "a b", [])))


@pytest.fixture(scope="module")
def unsure() -> Language:
    nlp = cascade()
    train(nlp, make_examples(nlp), updates=1)
    return nlp


def evaluated(nlp: Language, examples: list[Example]) -> list[Example]:
    return [Example(nlp(example.predicted), example.reference) for example in examples]


def test_confidences_are_those_of_the_extension(unsure: Language) -> None:
    doc = unsure(make_doc(unsure.vocab, SENTENCES[0][0]))
    doc.spans["bare"] = [doc[0:3]]
    doc.spans["later"] = SpanGroup(
        doc, name="later", spans=[*doc.ents, doc[0:1]], attrs={"scores": np.full(9, 0.125)}
    )
    assert len(doc.ents) > 0
    found = confidences_of(doc)
    for span in (*doc.ents, doc[0:1]):
        assert found[key_of(span)] == span._.confidence
    assert key_of(doc[0:3]) not in found


def test_gold_entities_have_the_probability_of_the_cascade(unsure: Language) -> None:
    wrong = [(text, [(0, 1, "DNA"), (2, 3, "drug")]) for text, _ in SENTENCES]
    examples = evaluated(unsure, make_examples(unsure, wrong))
    stages = stages_of(unsure)
    for example, judged in zip(examples, judge(unsure, examples), strict=True):
        (expected,) = entity_probabilities(stages, [example.predicted], [[(0, 1, "DNA")]])
        assert judged.probabilities[0] == pytest.approx(expected[0])
        assert judged.probabilities[1] == 0.0
        assert list(judged.confidences) == [e._.confidence for e in example.predicted.ents]


def test_what_rounding_adds_to_a_certain_span_is_no_probability() -> None:
    """The sum of what the segmenter gives its labels."""
    segmenter = SimpleNamespace(labels=("a", "b"), posteriors=lambda *_: [np.array([0.625, 0.25])])
    classifier = SimpleNamespace(probabilities=lambda *_: [np.array([0.75, 1.0])])
    doc = make_doc(NLP.vocab, "a b")
    stages: Any = segmenter, classifier
    (found,) = entity_probabilities(stages, [doc], [[(0, 1, "x"), (1, 2, "y")]])
    assert found.tolist() == [0.75, 0.5]


def test_what_the_tokens_cannot_express_has_probability_zero(unsure: Language) -> None:
    text = "Jurkat cells express AP-1 ."
    predicted = unsure(make_doc(unsure.vocab, text))
    words = ["Jurkat", "cells", "ex", "press", "AP-1", "."]
    reference = Doc(unsure.vocab, words=words, spaces=[True, True, False, True, True, False])
    gold = [(1, 2, "DNA"), (3, 4, "cell"), (4, 5, "cell")]
    reference.set_ents([Span(reference, *span) for span in gold], default="outside")
    (judged,) = judge(unsure, [Example(predicted, reference)])
    inexpressible = judged.probabilities[1]
    (expected,) = entity_probabilities(
        stages_of(unsure), [predicted], [[(1, 2, "DNA"), (3, 4, "cell")]]
    )
    assert inexpressible == 0.0
    assert [judged.probabilities[0], judged.probabilities[2]] == pytest.approx(expected.tolist())


def test_pieces_are_sentences_where_there_are_any() -> None:
    text = " ".join(["x"] * 100)
    for starts, expected in (([0, 40, 90], [0, 40, 90]), ((), [0, 31, 61, 91])):
        reference = gold_doc(NLP.vocab, text, [(29, 31, "a")], sentence_starts=starts)
        (judged,) = judge(NLP, [Example(make_doc(NLP.vocab, text), reference)])
        assert [start for start, _ in judged.pieces] == expected


def test_negative_annotation_is_neither_missed_nor_wrong() -> None:
    """A `!protein` says of a span that it is no protein: it may be anything else."""
    nlp = cascade()
    train(nlp, make_examples(nlp))
    text = SENTENCES[2][0]
    reference = gold_doc(nlp.vocab, text, [(0, 2, "cell"), (2, 3, "!cell"), (3, 4, "!protein")])
    found = nlp(make_doc(nlp.vocab, text))
    (judged,) = judge(nlp, [Example(found, reference)])
    assert judged.comparison.gold == judged.comparison.predicted == [(0, 2, "cell")]
    assert len(found.ents) == 2
    missed = gold_doc(nlp.vocab, text, [(0, 1, "!DNA"), (2, 3, "cell")])
    (judged,) = judge(nlp, [Example(found, missed)])
    assert len(judged.probabilities) == 1
