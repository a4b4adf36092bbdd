"""The classifier: types for spans from anywhere, and respect for what is on the Doc."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup

from helpers import (
    SENTENCES,
    TEXTS,
    add_classifier,
    annotate,
    blank,
    bounds,
    confidences,
    make_doc,
    make_examples,
    train,
)
from spacy_cascade.pipeline.reading import read

TEXT, SPANS = SENTENCES[0]


@Language.component("propose_everything")
def propose_everything(doc: Doc) -> Doc:
    """All spans of one or two tokens, which overlap, as a poor proposer might."""
    doc.spans["cascade"] = [
        Span(doc, start, start + length, "GUESS")
        for start in range(len(doc))
        for length in (1, 2)
        if start + length <= len(doc)
    ]
    return doc


@pytest.fixture(scope="module")
def alone() -> Language:
    """A classifier without a segmenter, trained on gold spans."""
    nlp = blank()
    add_classifier(nlp)
    train(nlp, make_examples(nlp))
    return nlp


def with_spans(nlp: Language, spans: list[tuple[int, int, str]], **attributes: Any) -> Doc:
    doc = make_doc(nlp.vocab, TEXT)
    spans_of_doc = [Span(doc, *span) for span in spans]
    doc.spans["cascade"] = SpanGroup(doc, name="cascade", spans=spans_of_doc, attrs=attributes)
    return doc


@pytest.mark.parametrize("is_probabilistic", [True, False])
def test_scores_of_a_list_are_logarithms_where_there_are_probabilities(
    is_probabilistic: bool,
) -> None:
    hinge = {
        "loss": {"@misc": "spacy_cascade.Hinge.v2"},
        "penalty": None,
        "trainer": {"@misc": "spacy_cascade.PassiveAggressive.v1"},
    }
    classifier = add_classifier(blank(), **({} if is_probabilistic else hinge))
    scores = np.array([[1.0, 2.0, 4.0], [0.0, -700.0, 700.0]])
    expected = scores - np.logaddexp.reduce(scores, axis=1)[:, None] if is_probabilistic else scores
    np.testing.assert_allclose(classifier._class_scores(scores), expected, rtol=1e-12)
    for shape in [(0, 3), (2, 0), (0, 0)]:
        assert classifier._class_scores(np.zeros(shape)).shape == shape


@pytest.mark.parametrize(("reject", "n"), [(True, 4), (False, 2)])
def test_wrong_proposals_are_judged_where_they_can_be_rejected(reject: bool, n: int) -> None:
    """Spans with tokens that are not annotated are not."""
    nlp = blank()
    classifier = add_classifier(nlp, reject=reject)
    (example,) = make_examples(nlp)[:1]
    example.reference.set_ents(example.reference.ents, missing=[example.reference[3:4]])
    rows = [(0, 1), (1, 3), (2, 3), (3, 4), (4, 5)]
    example.predicted.spans["cascade"] = [Span(example.predicted, *row) for row in rows]
    classifier.initialize(lambda: [example], nlp=nlp)
    found = classifier.outcomes([example])
    assert len(found.right) == len(found.confidences(1.0)) == n
    assert found.confidences(1.0).tolist() == pytest.approx([1 / (3 + reject)] * n)


# Learning


def test_the_cascade_learns_a_few_sentences_by_heart(trained: Language) -> None:
    for text, spans in SENTENCES:
        doc = trained(text)
        assert bounds(doc.ents) == bounds(doc.spans["cascade"]) == spans
    scores = trained.evaluate(make_examples(trained))
    assert scores["ents_f"] == scores["segments_f"] == scores["types_acc"] == 1.0


@pytest.mark.parametrize(("loss", "gold_key"), [("Likelihood", "gold"), ("SoftmaxMargin", None)])
def test_gold_spans_are_typed_by_heart(loss: str, gold_key: str | None) -> None:
    nlp = blank()
    classifier = add_classifier(
        nlp,
        gold_key=gold_key,
        loss={"@misc": f"spacy_cascade.{loss}.v2"},
        penalty={"@misc": "spacy_cascade.Gaussian.v1", "sigma": 1.0},
    )
    losses = train(nlp, make_examples(nlp, key=gold_key), updates=4)
    values = [loss["cascade_classifier"] for loss in losses]
    assert values[-1] < values[0]
    assert values == sorted(values, reverse=True)
    assert classifier.labels == ("DNA", "cell", "protein")
    for text, spans in SENTENCES:
        doc = make_doc(nlp.vocab, text)
        doc.spans["cascade"] = [Span(doc, start, end, "any") for start, end, _ in spans]
        assert bounds(nlp(doc).ents) == spans
    assert nlp.evaluate(make_examples(nlp, key=gold_key))["types_acc"] == 1.0


def test_a_span_may_stand_in_any_sentence(alone: Language) -> None:
    """Also across their boundary, where its context is another."""
    doc = make_doc(alone.vocab, TEXT, sentence_starts=(0, 2, 4))
    doc.spans["cascade"] = [doc[1:3], doc[6:8]]
    assert [(e.start, e.end) for e in alone(doc).ents] == [(1, 3), (6, 8)]
    assert doc.ents[1].label_ == "cell"


# Spans of other components


def test_entities_of_a_ruler_are_typed() -> None:
    nlp = blank()
    ruler = nlp.add_pipe("entity_ruler")
    add_classifier(nlp, spans_key=None, mention_labels=["MENTION"])
    train(nlp, make_examples(nlp))
    ruler.add_patterns(
        [
            {"label": "MENTION", "pattern": "IL-2 gene"},
            {"label": "MENTION", "pattern": "T cells"},
            {"label": "KEPT", "pattern": "STAT5"},
        ]
    )
    doc = nlp(make_doc(nlp.vocab, TEXT))
    assert bounds(doc.ents) == [(1, 3, "DNA"), (4, 5, "KEPT"), (6, 8, "cell")]
    for entity in (doc.ents[0], doc.ents[2]):
        assert 0.5 < entity._.confidence <= 1.0


def test_without_set_ents_entities_are_left_alone() -> None:
    nlp = blank()
    add_classifier(nlp, set_ents=False)
    train(nlp, make_examples(nlp))
    doc = with_spans(nlp, [(1, 3, "ENT")])
    doc.ents = [Span(doc, 0, 2, "TITLE")]
    nlp(doc)
    assert bounds(doc.ents) == [(0, 2, "TITLE")]
    assert bounds(doc.spans["cascade"]) == [(1, 3, "DNA")]


def test_only_mentions_are_typed() -> None:
    """The other spans of the group stay as they are, with their confidences."""
    nlp = blank()
    add_classifier(nlp, mention_labels=["ENT"])
    train(nlp, make_examples(nlp))
    proposed = [(1, 3, "ENT"), (3, 4, "VERB"), (4, 5, "ENT")]
    doc = nlp(with_spans(nlp, proposed, scores=np.array([0.5, 0.25, 1.0])))
    assert bounds(doc.spans["cascade"]) == [(1, 3, "DNA"), (3, 4, "VERB"), (4, 5, "protein")]
    assert bounds(doc.ents) == [(1, 3, "DNA"), (4, 5, "protein")]
    first, second, third = confidences(doc)
    assert 0.25 < first < 0.5
    assert second == 0.25
    assert 0.5 < third <= 1.0


def test_other_attributes_of_a_group_stay(alone: Language) -> None:
    doc = with_spans(alone, [(1, 3, "ENT")], author="another", scores=np.array([0.5]))
    attributes = alone(doc).spans["cascade"].attrs
    assert attributes["author"] == "another"
    assert set(attributes) == {"author", "scores", "scored"}
    assert attributes["scores"] < 0.5


# Rejection


def rejecting(**settings: Any) -> Language:
    nlp = blank()
    nlp.add_pipe("propose_everything")
    add_classifier(
        nlp,
        reject=True,
        loss={"@misc": "spacy_cascade.Likelihood.v2"},
        penalty={"@misc": "spacy_cascade.Gaussian.v1"},
        **settings,
    )
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    for _ in range(5):
        nlp.update(examples, annotates=["propose_everything"])
    return nlp


def test_wrong_proposals_are_rejected() -> None:
    nlp = rejecting()
    assert nlp.get_pipe("cascade_classifier").labels == ("DNA", "cell", "protein")
    for text, spans in SENTENCES:
        doc = nlp(make_doc(nlp.vocab, text))
        assert bounds(doc.ents) == spans
        # Rejected spans stay in the group, under the label that they had.
        assert len(doc.spans["cascade"]) == 2 * len(doc) - 1
        typed = [span for span in doc.spans["cascade"] if span.label_ != "GUESS"]
        assert bounds(typed) == spans
        assert all(0.0 < score <= 1.0 for score in confidences(doc))


def test_types_of_gold_spans_are_never_rejected() -> None:
    """`types_acc` asks which type a span has, given that it is an entity."""
    nlp = rejecting()
    classifier = nlp.get_pipe("cascade_classifier")
    doc = make_doc(nlp.vocab, TEXT)
    ((first, second),) = classifier.classify([doc], [[(0, 1), (1, 3)]])
    assert first in classifier.labels
    assert second == "DNA"


def test_proposals_on_tokens_without_annotation_are_not_called_wrong() -> None:
    """Nothing is known of cells: what is proposed there may well be right."""
    nlp = blank()
    nlp.add_pipe("propose_everything")
    add_classifier(nlp, reject=True)
    examples = make_examples(nlp)
    for example in examples:
        reference = example.reference
        kept = [span for span in reference.ents if span.label_ != "cell"]
        cells = [span for span in reference.ents if span.label_ == "cell"]
        reference.set_ents(kept, missing=cells, default="outside")
    nlp.initialize(lambda: examples)
    for _ in range(3):
        nlp.update(examples, annotates=["propose_everything"])
    data = nlp.get_pipe("cascade_classifier")._fit._objective.loss.data
    wrong = sum(
        all(token.ent_iob != 0 for token in example.reference[span.start : span.end])
        for example in examples
        for span in propose_everything(example.predicted).spans["cascade"]
    ) - sum(len(example.reference.ents) for example in examples)
    assert int((data.observed == 0).sum()) == wrong


# Confidences


def test_joint_confidence_is_that_of_segment_times_that_of_type(trained: Language) -> None:
    nlp = trained
    classifier = nlp.get_pipe("cascade_classifier")
    for text in (*TEXTS, "An unknown gene binds monocytes"):
        doc = nlp.get_pipe("cascade_segmenter")(make_doc(nlp.vocab, text))
        segments = np.array(confidences(doc))
        alone = make_doc(nlp.vocab, text)
        alone.spans["cascade"] = [alone[span.start : span.end] for span in doc.spans["cascade"]]
        types = np.array(confidences(classifier(alone)))
        joint = np.array(confidences(classifier(doc)))
        np.testing.assert_allclose(joint, segments * types, rtol=1e-12)
        assert all(0.0 < score <= 1.0 for score in (*joint, *types))
        assert [entity._.confidence for entity in doc.ents] == joint.tolist()


def test_type_probabilities_are_those_of_a_softmax(alone: Language) -> None:
    """Against all classes' scores, computed from the weights by hand."""
    classifier = alone.get_pipe("cascade_classifier")
    doc = with_spans(alone, [(1, 3, "ENT"), (3, 5, "ENT")])
    bounds = np.array([(1, 3), (3, 5)])
    units = classifier._units(read(classifier, [doc]), bounds, bounds)
    scores = classifier.model.predict(units)
    softmax = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(confidences(alone(doc)), softmax.max(axis=1), rtol=1e-9)
    assert [s.label_ for s in doc.spans["cascade"]] == [
        classifier.labels[i] for i in softmax.argmax(axis=1)
    ]


@pytest.mark.parametrize("spans_key", ["cascade", None])
def test_confidence_can_be_switched_off(spans_key: str | None) -> None:
    nlp = blank()
    add_classifier(nlp, confidence=False, spans_key=spans_key)
    train(nlp, make_examples(nlp))
    doc = with_spans(nlp, [(1, 3, "ENT")])
    doc.ents = [Span(doc, 1, 3, "ENT")] if spans_key is None else []
    nlp(doc)
    assert bounds(doc.ents) == [(1, 3, "DNA")]
    assert all(confidences(doc, key) is None for key in doc.spans)
    assert doc.ents[0]._.confidence is None


# What is on the Doc already


WORDS = 8
spans_of_a_doc = st.lists(
    st.tuples(st.integers(0, WORDS), st.integers(0, 4), st.sampled_from(["ENT", "X"])), max_size=7
).map(lambda found: [(s, min(s + n, WORDS), label) for s, n, label in found])
token_states = st.lists(
    st.sampled_from(["B", "I", "blocked", "missing", "outside"]), min_size=WORDS, max_size=WORDS
)


def prepared_doc(nlp: Language, states: list[str]) -> Doc:
    """A Doc with entities, blocked tokens, and tokens with and without annotation."""
    doc = make_doc(nlp.vocab, "STAT5 IL-2 gene the cells p53 lymphocytes .")
    annotate(doc, states, ["EARLIER"] * WORDS)
    return doc


@pytest.fixture(scope="module")
def by_source() -> dict[str | None, Language]:
    """Classifiers that read `doc.spans` and `doc.ents`."""
    pipelines = {}
    for spans_key in ("cascade", None):
        nlp = blank()
        add_classifier(nlp, spans_key=spans_key, mention_labels=["ENT", "X"])
        train(nlp, make_examples(nlp))
        pipelines[spans_key] = nlp
    return pipelines


def state(doc: Doc) -> list[tuple[str, int, str]]:
    return [(token.text_with_ws, token.ent_iob, token.ent_type_) for token in doc]


@settings(max_examples=50)
@given(states=token_states, spans=spans_of_a_doc)
def test_earlier_entities_and_blocked_tokens_survive(
    by_source: dict[str | None, Language], states: list[str], spans: list[tuple[int, int, str]]
) -> None:
    """Whatever spans are proposed: overlapping, empty, on top of entities (no E1010)."""
    nlp = by_source["cascade"]
    doc = prepared_doc(nlp, states)
    doc.spans["cascade"] = [Span(doc, *span) for span in spans]
    before, entities = state(doc), bounds(doc.ents)
    nlp(doc)
    assert set(entities) <= set(bounds(doc.ents))
    new = [entity for entity in doc.ents if entity.label_ != "EARLIER"]
    assert {(e.start, e.end) for e in new} <= {(start, end) for start, end, _ in spans}
    covered = {token.i for entity in new for token in entity}
    for i, (was, now) in enumerate(zip(before, state(doc), strict=True)):
        outside = (was[0], 2, "") if was[1] == 0 else was
        assert now == outside or i in covered
        if states[i] in ("blocked", "B"):
            assert was == now
    assert [(s.start, s.end) for s in doc.spans["cascade"]] == [s[:2] for s in spans]
    # Nothing that had room was left out.
    room = [
        (start, end)
        for start, end, _ in spans
        if start < end and all(iob in (0, 2) for _, iob, _ in before[start:end])
    ]
    assert all(covered & set(range(start, end)) for start, end in room)


@settings(max_examples=30)
@given(states=token_states)
def test_entities_that_are_no_mentions_survive(
    by_source: dict[str | None, Language], states: list[str]
) -> None:
    nlp = by_source[None]
    doc = prepared_doc(nlp, states)
    entities = list(doc.ents)
    relabelled = [Span(doc, e.start, e.end, "ENT") for e in entities[::2]]
    doc.set_ents([*relabelled, *entities[1::2]], default="unmodified")
    blocked = [i for i, s in enumerate(states) if s == "blocked"]
    nlp(doc)
    assert [(e.start, e.end) for e in doc.ents] == [(e.start, e.end) for e in entities]
    assert all(e.label_ in ("DNA", "cell", "protein") for e in doc.ents[::2])
    assert all(e.label_ == "EARLIER" for e in doc.ents[1::2])
    assert all(doc[i].ent_iob == 3 and not doc[i].ent_type_ for i in blocked)


# Labels


def test_one_label_is_enough() -> None:
    nlp = blank()
    classifier = add_classifier(nlp)
    one = [(text, [(s, e, "thing") for s, e, _ in spans]) for text, spans in SENTENCES]
    losses = train(nlp, make_examples(nlp, one))
    assert np.isfinite([loss["cascade_classifier"] for loss in losses]).all()
    assert classifier.labels == ("thing",)
    doc = nlp(with_spans(nlp, [(1, 3, "ENT")]))
    assert bounds(doc.ents) == [(1, 3, "thing")]
    assert confidences(doc) == [1.0]
