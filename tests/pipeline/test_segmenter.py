"""The segmenter: it learns by heart what it can, and keeps out of what is not annotated."""

from __future__ import annotations

import numpy as np
import pytest
from spacy.language import Language
from spacy.tokens import Span, SpanGroup
from spacy.training import Example

from helpers import (
    SENTENCES,
    SMALL,
    TEXTS,
    TRAINER,
    add_segmenter,
    annotations,
    blank,
    bounds,
    confidences,
    gold_doc,
    make_doc,
    make_example,
    make_examples,
    train,
    weights,
)

SCHEMES = ("BILOU", "IOB2", "IO")


def collapsed(spans: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    return [(start, end, "ENT") for start, end, _ in spans]


def found(nlp: Language, text: str) -> list[tuple[int, int, str]]:
    doc = nlp(make_doc(nlp.vocab, text))
    return bounds(doc.spans["cascade"])


@pytest.mark.parametrize(
    ("scheme", "typed", "gold_key"),
    [("BILOU", False, None), ("IOB2", True, "gold"), ("IO", True, None)],
)
def test_it_learns_a_few_sentences_by_heart(scheme: str, typed: bool, gold_key: str | None) -> None:
    nlp = blank()
    segmenter = add_segmenter(nlp, scheme=scheme, typed=typed, gold_key=gold_key)
    losses = train(nlp, make_examples(nlp, key=gold_key), updates=4)
    values = [loss["cascade_segmenter"] for loss in losses]
    assert np.isfinite(values).all()
    assert values[-1] < values[0]
    assert values == sorted(values, reverse=True)
    assert segmenter.labels == (("DNA", "cell", "protein") if typed else ("ENT",))
    for text, spans in SENTENCES:
        assert found(nlp, text) == (spans if typed else collapsed(spans))
    scores = nlp.evaluate(make_examples(nlp, key=gold_key))
    assert (scores["segments_p"], scores["segments_r"], scores["segments_f"]) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(("loss", "label_pairs"), [("Likelihood", False), ("SoftmaxMargin", True)])
def test_every_loss_and_kind_of_feature_learns(loss: str, label_pairs: bool) -> None:
    nlp = blank()
    add_segmenter(
        nlp,
        model={"min_count": 1, "label_pairs": label_pairs},
        loss={"@misc": f"spacy_cascade.{loss}.v2"},
        penalty={"@misc": "spacy_cascade.Gaussian.v1", "sigma": 1.0},
    )
    train(nlp, make_examples(nlp))
    assert [found(nlp, text) for text in TEXTS] == [collapsed(spans) for _, spans in SENTENCES]


def test_neighbouring_spans_stay_apart() -> None:
    sentences = [("p53 STAT5 bind", [(0, 1, "protein"), (1, 2, "protein")])]
    for scheme in SCHEMES:
        joined = [(0, 2, "protein")] if scheme == "IO" else sentences[0][1]
        nlp = blank()
        add_segmenter(
            nlp,
            scheme=scheme,
            loss={"@misc": "spacy_cascade.Likelihood.v2"},
            penalty={"@misc": "spacy_cascade.Gaussian.v1"},
        )
        train(nlp, make_examples(nlp, sentences))
        assert found(nlp, sentences[0][0]) == collapsed(joined)


def test_set_ents_writes_entities_too() -> None:
    nlp = blank()
    add_segmenter(nlp, typed=True, set_ents=True)
    train(nlp, make_examples(nlp))
    for text, spans in SENTENCES:
        assert bounds(nlp(text).ents) == spans
    scores = nlp.evaluate(make_examples(nlp))
    assert scores["ents_f"] == 1.0
    assert set(scores["ents_per_type"]) == {"DNA", "cell", "protein"}


# Missing annotation


def partly_annotated(nlp: Language, observe_odd: bool) -> list[Example]:
    """Every sentence twice, with the annotation of every second token missing.

    A token of an entity is observed or not together with the whole entity.
    """
    examples = []
    for text, spans in SENTENCES:
        reference = gold_doc(nlp.vocab, text, spans)
        units = [reference[start:end] for start, end, _ in spans]
        inside = {t.i for unit in units for t in unit}
        units += [reference[t.i : t.i + 1] for t in reference if t.i not in inside]
        units.sort(key=lambda unit: unit.start)
        left_out = [unit for i, unit in enumerate(units) if bool(i % 2) != observe_odd]
        kept = [s for s in reference.ents if all(s.start != unit.start for unit in left_out)]
        reference.set_ents(kept, missing=left_out, default="outside")
        examples.append(Example(make_doc(nlp.vocab, text), reference))
    return examples


@pytest.mark.parametrize("scheme", SCHEMES)
def test_half_of_the_annotation_is_enough(scheme: str) -> None:
    nlp = blank()
    add_segmenter(nlp, scheme=scheme, typed=True)
    examples = partly_annotated(nlp, True) + partly_annotated(nlp, False)
    unobserved = [token.ent_iob == 0 for example in examples for token in example.reference]
    assert 0.3 < np.mean(unobserved) < 0.7
    losses = train(nlp, examples, updates=5)
    assert losses[-1]["cascade_segmenter"] < losses[0]["cascade_segmenter"]
    assert [found(nlp, text) for text in TEXTS] == [spans for _, spans in SENTENCES]


@pytest.mark.parametrize("gold_key", [None])
def test_a_doc_without_annotation_adds_nothing(gold_key: str | None) -> None:
    """To the optimum, whose features are those of all Docs in both trainings."""
    trainer = {**TRAINER, "iterations": 300, "tolerance": 1e-7}
    nlp = blank()
    segmenter = add_segmenter(nlp, trainer=trainer, gold_key=gold_key)
    annotated = make_examples(nlp, key=gold_key)
    bare = Example(make_doc(nlp.vocab, "IL-2 is bare"), make_doc(nlp.vocab, "IL-2 is bare"))
    nlp.initialize(lambda: [*annotated, bare])
    start = segmenter.to_bytes()
    results = []
    for name, examples in (("without", annotated), ("with", [*annotated, bare])):
        settings = {**SMALL, "trainer": trainer, "gold_key": gold_key}
        segmenter = nlp.add_pipe("cascade_segmenter", name, config=settings).from_bytes(start)
        segmenter.update(examples)
        results.append(weights(segmenter))
    assert np.abs(results[0][0]).max() > 0.1
    for without_it, with_it in zip(*results, strict=True):
        np.testing.assert_allclose(with_it, without_it, atol=2e-3)


# What a chain cannot have


def test_a_span_across_sentences_is_left_open() -> None:
    text = "The p53 gene . STAT5 binds here ."
    spans = [(1, 3, "DNA"), (3, 5, "odd"), (5, 6, "verb")]
    nlp = blank()
    segmenter = add_segmenter(
        nlp,
        typed=True,
        loss={"@misc": "spacy_cascade.Likelihood.v2"},
        penalty={"@misc": "spacy_cascade.Gaussian.v1"},
    )
    example = make_example(nlp, text, spans, sentence_starts=(0, 4))
    losses = train(nlp, [example])
    assert losses[-1]["cascade_segmenter"] < losses[0]["cascade_segmenter"]
    assert segmenter.labels == ("DNA", "odd", "verb")
    doc = nlp(make_doc(nlp.vocab, text, sentence_starts=(0, 4)))
    assert {(1, 3, "DNA"), (5, 6, "verb")} <= set(bounds(doc.spans["cascade"]))
    assert (3, 5, "odd") not in bounds(doc.spans["cascade"])
    # The same Doc as one sentence can have it.
    nlp = blank()
    add_segmenter(
        nlp,
        typed=True,
        loss={"@misc": "spacy_cascade.Likelihood.v2"},
        penalty={"@misc": "spacy_cascade.Gaussian.v1"},
    )
    train(nlp, [make_example(nlp, text, spans)])
    assert found(nlp, text) == spans


# Labels


def test_given_labels_replace_those_of_the_examples() -> None:
    """A label that was not given is not learnt, and not taught as something else."""
    nlp = blank()
    segmenter = add_segmenter(nlp, typed=True)
    examples = make_examples(nlp)
    segmenter.initialize(lambda: examples, nlp=nlp, labels=["DNA", "protein"])
    assert segmenter.labels == ("DNA", "protein")
    for _ in range(3):
        segmenter.update(examples)
    for text, spans in SENTENCES:
        expected = {span for span in spans if span[2] != "cell"}
        assert expected <= set(found(nlp, text))


# Confidences


@pytest.mark.parametrize(("scheme", "typed"), [("BILOU", False), ("IOB2", True), ("IO", True)])
def test_confidences_are_probabilities(scheme: str, typed: bool) -> None:
    nlp = blank()
    add_segmenter(nlp, scheme=scheme, typed=typed)
    train(nlp, make_examples(nlp))
    for text in (*TEXTS, "An unknown gene binds monocytes and p53", "STAT5 " * 30):
        doc = nlp(make_doc(nlp.vocab, text))
        scores = confidences(doc)
        assert len(scores) == len(doc.spans["cascade"])
        assert all(0.0 < score <= 1.0 for score in scores)
        assert [span._.confidence for span in doc.spans["cascade"]] == scores


def test_confidence_can_be_switched_off() -> None:
    nlp = blank()
    add_segmenter(nlp, confidence=False)
    train(nlp, make_examples(nlp))
    for texts in (TEXTS, [""], ["", TEXTS[0]]):
        for doc in nlp.pipe([make_doc(nlp.vocab, text) for text in texts]):
            assert confidences(doc) is None
            assert [span._.confidence for span in doc.spans["cascade"]] == [None] * len(
                doc.spans["cascade"]
            )


def test_confidence_in_a_group_that_is_not_in_order(trained: Language) -> None:
    """Also of spans with the same bounds, and not of one that has no score."""
    doc = make_doc(trained.vocab, "a b c d")
    spans = [Span(doc, *b) for b in ((2, 3, "x"), (0, 2, "y"), (0, 2, "x"), (1, 4, "x"))]
    doc.spans["mine"] = SpanGroup(doc, name="mine", attrs={"scores": [0.1, 0.2, 0.3]}, spans=spans)
    assert [span._.confidence for span in spans] == [0.1, 0.2, 0.3, None]


def test_rows_of_units_are_made_block_by_block(
    trained: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    nlp = trained
    expected = annotations(nlp)
    monkeypatch.setattr("spacy_cascade.scorers.linear._BLOCK", 3)
    assert annotations(nlp) == expected


def test_a_chain_looks_at_how_similar_single_tokens_are() -> None:
    templates = {
        "@misc": "spacy_cascade.Templates.v1",
        "templates": ["bias", "similarity(genes, jaro_winkler)", "similarity(training, jaccard)"],
        "patterns": {},
        "lexicons": {"genes": ["interleukin", "tumor necrosis"]},
    }
    model = {
        "@architectures": "spacy_cascade.LinearChain.v1", "templates": templates, "min_count": 1
    }  # fmt: skip
    sentences = [
        ("We saw interleukin .", [(2, 3, "protein")]), ("They saw it .", []),
        ("An interleukins gene .", [(1, 2, "protein")]), ("No other gene .", []),
    ]  # fmt: skip
    nlp = blank()
    add_segmenter(nlp, model=model, penalty={"@misc": "spacy_cascade.Gaussian.v1", "sigma": 5.0})
    train(nlp, make_examples(nlp, sentences))
    assert found(nlp, "Where is interleukine now ?") == [(2, 3, "ENT")]
    assert found(nlp, "Where is Paris now ?") == []
