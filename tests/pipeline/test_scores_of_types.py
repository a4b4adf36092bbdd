"""Scores of types and of groups on a few spans, which can be counted by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.scorer import get_ner_prf
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_cascade.pipeline.scorers import score_segments, score_types
from spacy_cascade.pipeline.spans.gold import read_gold

WORDS = [*"abcdef"]
Bounds = tuple[int, int, str]


def example(gold: Sequence[Bounds], found: Sequence[Bounds], key: str | None = None) -> Example:
    """Found spans in the group "found"; gold ones as entities, or in the group of the key."""
    vocab = Vocab()
    predicted, reference = Doc(vocab, WORDS), Doc(vocab, WORDS)
    predicted.spans["found"] = [predicted.char_span(s, e, label) for s, e, label in chars(found)]
    spans = [reference.char_span(s, e, label) for s, e, label in chars(gold)]
    if key is None:
        reference.set_ents(spans)
    else:
        reference.spans[key] = spans
    return Example(predicted, reference)


def chars(spans: Sequence[Bounds]) -> list[Bounds]:
    """Every word has one character, and a space behind it."""
    return [(2 * start, 2 * end - 1, label) for start, end, label in spans]


def classify_as(answers: list[list[str]]) -> Any:
    """What answers so, and keeps what it was asked."""

    def classify(docs: Sequence[Doc], bounds: Sequence[Any]) -> list[list[str]]:
        classify.asked = [list(of_doc) for of_doc in bounds]  # type: ignore[attr-defined]
        return answers

    return classify


GOLD: list[Bounds] = [(0, 1, "A"), (2, 4, "B"), (5, 6, "A")]
FOUND: list[Bounds] = [(0, 1, "A"), (2, 4, "A"), (4, 5, "B")]


@pytest.mark.parametrize("key", [None, "gold"])
def test_the_share_of_right_types(key: str | None) -> None:
    examples = [example(GOLD, FOUND, key), example([], [], key), example(GOLD[:1], [], key)]
    classify = classify_as([["A", "B", "B"], [], ["A"]])
    scores = score_types(examples, classify=classify, labels=["A", "B"], gold_key=key)
    assert scores["types_acc"] == 3 / 4
    assert classify.asked == [[(0, 1), (2, 4), (5, 6)], [], [(0, 1)]]
    assert not [name for name in scores if name.startswith("spans_")]
    assert "ents_f" in scores
    none = score_types([example([], FOUND, key)], classify=classify_as([[]]), labels=["A", "B"])
    assert none["types_acc"] is None


ANNOTATION = st.lists(
    st.sampled_from(["B-A", "I-A", "B-B", "I-B", "O", ""]), min_size=6, max_size=6
)
"""Tags of IOB2 as spaCy takes them; those without one are not annotated."""


@given(
    sides=st.lists(st.tuples(ANNOTATION, ANNOTATION), min_size=1, max_size=3),
    words=st.lists(st.sampled_from(["a", "B", " ", "\n", "İ"]), min_size=6, max_size=6),
    is_split=st.booleans(),
)
def test_entities_are_counted_as_spacy_does(
    sides: list[tuple[list[str], list[str]]], words: list[str], is_split: bool
) -> None:
    """Also where tokens are not annotated, are white space, or differ between the two Docs."""
    vocab, examples = Vocab(), []
    for found, gold in sides:
        predicted, reference = (_annotated(vocab, words, tags) for tags in (found, gold))
        if is_split:
            with reference.retokenize() as retokenizer:
                retokenizer.merge(reference[2:4])
        examples.append(Example(predicted, reference))
    expected = get_ner_prf(examples)
    spans = [read_gold(e, None).spans for e in examples]
    classify = classify_as([["A"] * len(of_doc) for of_doc in spans])
    scores = score_types(examples, classify=classify, labels=["A", "B"])
    assert {name: scores[name] for name in expected} == expected
    scores = score_segments(examples, spans_key="found", set_ents=True)
    assert {name: scores[name] for name in expected} == expected


def _annotated(vocab: Vocab, words: list[str], tags: list[str]) -> Doc:
    """`I-` begins an entity where none of its label goes on."""
    doc, spans, missing = Doc(vocab, words), [], []
    for i, tag in enumerate(tags):
        goes_on = spans and tag[:1] == "I" and spans[-1].end == i and tag[2:] == spans[-1].label_
        if goes_on:
            spans[-1] = Span(doc, spans[-1].start, i + 1, tag[2:])
        elif tag[:1] in ("B", "I"):
            spans.append(Span(doc, i, i + 1, tag[2:]))
        elif not tag:
            missing.append(doc[i : i + 1])
    doc.set_ents(spans, missing=missing, default="outside")
    return doc


@pytest.mark.parametrize("key", [None, "gold"])
def test_spans_of_a_group_with_their_types(key: str | None) -> None:
    """One of three is right; those of other labels do not count."""
    settings: dict[str, Any] = {
        "classify": classify_as([["A"] * 3]), "spans_key": "found", "gold_key": key,
    }  # fmt: skip
    scores = score_types([example(GOLD, FOUND, key)], labels=["A", "B"], **settings)
    assert (scores["spans_found_p"], scores["spans_found_r"]) == (1 / 3, 1 / 3)
    assert scores["spans_found_f"] == pytest.approx(1 / 3)
    scores = score_types([example(GOLD, FOUND, key)], labels=["A"], **settings)
    assert (scores["spans_found_p"], scores["spans_found_r"]) == (1 / 2, 1 / 3)


@pytest.mark.parametrize("key", [None, "gold"])
def test_gold_spans_of_some_labels(key: str | None) -> None:
    """The others count neither as gold nor as annotation that says no."""
    given = example(GOLD, FOUND, key)
    settings: dict[str, Any] = {"spans_key": "found", "gold_key": key, "gold_labels": ["A"]}
    scores = score_segments([given], **settings)
    # As entities, nothing is known of the tokens of others: what was found there does not count.
    n_found = 3
    assert scores["segments_p"] == 1 / n_found
    assert scores["segments_r"] == 1 / 2
    types = score_types([given], classify=classify_as([["A", "B"]]), labels=["A", "B"], **settings)
    assert types["types_acc"] == 1 / 2
    before = given.reference.ents if key is None else given.reference.spans[key]
    assert [(span.start, span.end, span.label_) for span in before] == GOLD


def test_two_levels_of_spans_are_scored_apart() -> None:
    """One of two that were found inside is right."""
    gold, found = [(0, 4, "A"), (1, 2, "B")], [(0, 4, "A"), (1, 2, "B"), (2, 3, "B")]
    settings: dict[str, Any] = {"labels": ["A", "B"], "spans_key": "found", "gold_key": "gold"}
    answers = classify_as([["A", "B"]])
    scores = score_types([example(gold, found, "gold")], classify=answers, **settings)
    perfect, half = {"p": 1.0, "r": 1.0, "f": 1.0}, {"p": 0.5, "r": 1.0, "f": 2 / 3}
    assert scores["spans_found_per_level"] == {"0": perfect, "1": pytest.approx(half)}
    assert scores["spans_found_per_type"] == {"A": perfect, "B": pytest.approx(half)}
    flat_ones = [example(gold[:1], found[:1], "gold")]
    flat = score_types(flat_ones, classify=classify_as([["A"]]), **settings)
    assert not any("per_level" in name for name in flat)


def test_gold_labels_of_a_group_that_is_not_there() -> None:
    scores = score_segments(
        [example(GOLD, FOUND)], spans_key="found", gold_key="gold", gold_labels=["A"]
    )
    assert scores == {"segments_p": None, "segments_r": None, "segments_f": None}


def test_bounds_are_counted_whatever_the_type() -> None:
    scores = score_segments([example(GOLD, FOUND)], spans_key="found")
    assert (scores["segments_p"], scores["segments_r"]) == (2 / 3, 2 / 3)
    assert scores["segments_f"] == pytest.approx(2 / 3)


def test_tokens_without_annotation_stay_so_where_few_labels_count() -> None:
    """What was found there is neither right nor wrong."""
    one = example([(0, 1, "A"), (2, 3, "B")], [])
    reference = one.reference
    tokens = [reference[i : i + 1] for i in (3, 4, 5)]
    reference.set_ents(list(reference.ents), missing=tokens, default="unmodified")
    one.predicted.set_ents([Span(one.predicted, 0, 1, "A"), Span(one.predicted, 4, 5, "A")])
    scores = score_types([one], classify=classify_as([["A"]]), labels=["A", "B"], gold_labels=["A"])
    assert (scores["types_acc"], scores["ents_p"], scores["ents_r"]) == (1.0, 1.0, 1.0)
