"""The registered scorers against counts made another way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from helpers import (
    SENTENCES,
    add_classifier,
    add_segmenter,
    blank,
    make_doc,
    make_examples,
    train,
)

TYPES = ("DNA", "RNA", "protein")


def precision_recall_f(n_right: int, n_found: int, n_gold: int) -> tuple[float, float, float]:
    precision = n_right / n_found if n_found else 0.0
    recall = n_right / n_gold if n_gold else 0.0
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total else 0.0


def random_spans(doc: Doc, generator: np.random.Generator) -> list[Span]:
    spans, position = [], 0
    while position < len(doc):
        length = int(generator.integers(1, 4))
        if generator.random() < 0.5 and position + length <= len(doc):
            label = TYPES[generator.integers(len(TYPES))]
            spans.append(Span(doc, position, position + length, label))
            position += length
        else:
            position += 1
    return spans


def disturbed(spans: list[Span], doc: Doc, generator: np.random.Generator) -> list[Span]:
    """Most spans as they are; some moved, retyped or left out."""
    out: list[Span] = []
    end = 0
    for span in spans:
        kind = generator.random()
        if kind < 0.15:
            continue
        stop = span.end - 1 if kind < 0.3 and len(span) > 1 else span.end
        label = TYPES[generator.integers(len(TYPES))] if kind > 0.8 else span.label_
        if span.start >= end:
            out.append(Span(doc, span.start, stop, label))
            end = stop
    return out


def random_examples(nlp: Language, generator: np.random.Generator) -> list[Example]:
    """Gold and found entities, with those found also in `doc.spans["cascade"]`."""
    examples = []
    for text, _ in SENTENCES * 5:
        reference, predicted = make_doc(nlp.vocab, text), make_doc(nlp.vocab, text)
        gold = random_spans(reference, generator)
        reference.set_ents(gold, default="outside")
        found = disturbed(gold, predicted, generator)
        predicted.set_ents(found, default="outside")
        predicted.spans["cascade"] = found
        examples.append(Example(predicted, reference))
    return examples


@pytest.fixture(scope="module")
def components() -> dict[str, Any]:
    """Both components, trained just enough to be asked for scores."""
    nlp = blank()
    add_segmenter(nlp, set_ents=True)
    add_classifier(nlp)
    train(nlp, make_examples(nlp), updates=1)
    return {"nlp": nlp, **dict(nlp.pipeline)}


@pytest.mark.parametrize("seed", range(2))
def test_segments_are_counted_as_sets_of_bounds(seed: int, components: dict[str, Any]) -> None:
    examples = random_examples(components["nlp"], np.random.default_rng(seed))
    gold = {(i, s.start, s.end) for i, e in enumerate(examples) for s in e.reference.ents}
    found = {
        (i, s.start, s.end) for i, e in enumerate(examples) for s in e.predicted.spans["cascade"]
    }
    scores = components["cascade_segmenter"].score(examples)
    expected = precision_recall_f(len(gold & found), len(found), len(gold))
    assert (scores["segments_p"], scores["segments_r"], scores["segments_f"]) == pytest.approx(
        expected
    )
    assert 0.2 < scores["segments_f"] < 0.95


# Annotation that is not there


@pytest.mark.parametrize("gold_key", [None, "gold"])
def test_without_annotation_there_are_no_scores(
    gold_key: str | None, components: dict[str, Any]
) -> None:
    nlp = blank()
    add_segmenter(nlp, gold_key=gold_key, set_ents=True)
    add_classifier(nlp, gold_key=gold_key)
    for name in nlp.pipe_names:
        nlp.get_pipe(name).from_bytes(components[name].to_bytes(), exclude=["cfg"])
    examples = [
        Example(make_doc(nlp.vocab, text), make_doc(nlp.vocab, text)) for text, _ in SENTENCES
    ]
    scores = nlp.evaluate(examples)
    for name in ("segments_p", "segments_r", "segments_f", "types_acc", "ents_f"):
        assert scores[name] is None
    assert scores["ents_per_type"] is None


def test_tokens_without_annotation_are_left_out(components: dict[str, Any]) -> None:
    """A span found where nothing is known is neither right nor wrong."""
    vocab = components["nlp"].vocab
    text = SENTENCES[0][0]
    reference, predicted = make_doc(vocab, text), make_doc(vocab, text)
    reference.set_ents([Span(reference, 1, 3, "X")], missing=[reference[4:9]], default="outside")
    predicted.spans["cascade"] = [predicted[1:3], predicted[6:8], predicted[3:5], predicted[0:1]]
    scores = components["cascade_segmenter"].score([Example(predicted, reference)])
    assert (scores["segments_p"], scores["segments_r"]) == (0.5, 1.0)


def test_entities_that_the_tokens_cannot_express_are_missed(components: dict[str, Any]) -> None:
    """Recall counts every gold entity, also those that the tokenizer made impossible."""
    vocab = components["nlp"].vocab
    reference = Doc(vocab, words=["AP-1", "site", "of", "p53"], spaces=[True, True, True, False])
    reference.set_ents([Span(reference, 0, 2, "X"), Span(reference, 3, 4, "X")], default="outside")
    predicted = Doc(vocab, words=["AP-1", "site of", "p53"], spaces=[True, True, False])
    predicted.spans["cascade"] = [predicted[2:3]]
    segmenter = components["cascade_segmenter"]
    scores = segmenter.score([Example(predicted, reference)])
    assert (scores["segments_p"], scores["segments_r"]) == (1.0, 0.5)
    predicted.spans["cascade"] = [predicted[0:2], predicted[2:3]]
    scores = segmenter.score([Example(predicted, reference)])
    assert (scores["segments_p"], scores["segments_r"]) == (0.5, 0.5)


def test_settings_reach_the_scorer() -> None:
    nlp = blank()
    segmenter = add_segmenter(nlp, gold_key="gold", spans_key="found")
    train(nlp, make_examples(nlp, key="gold"))
    scores = nlp.evaluate(make_examples(nlp, key="gold"))
    assert scores["segments_f"] == 1.0
    assert "ents_f" not in scores
    segmenter.scorer = None
    assert segmenter.score(make_examples(nlp, key="gold")) == {}
