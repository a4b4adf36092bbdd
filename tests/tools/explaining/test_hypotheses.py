"""Joint hypotheses against enumeration of all segmentations and all types."""

from __future__ import annotations

import json
import math
from itertools import product

import numpy as np
import pytest
from spacy.language import Language

from helpers import (
    SENTENCES,
    add_classifier,
    add_segmenter,
    blank,
    bounds,
    cascade,
    make_doc,
    make_examples,
    of_sentences,
    train,
)
from spacy_cascade.errors import ConfigError
from spacy_cascade.tools.explaining.hypotheses import joint_hypotheses

TEXT = "Jurkat cells express AP-1"


def unsure(**classifier: object) -> Language:
    """Temperatures of 1 in the segmenter, so that its N-best list has the same probabilities."""
    nlp = cascade(classifier={"temperature": 3.0, **classifier})
    train(nlp, make_examples(nlp), updates=1)
    return nlp


def enumerated(nlp: Language, doc) -> dict[tuple, float]:
    """Probabilities of all hypotheses of a Doc of one sentence with at most 100 segmentations."""
    classifier = nlp.get_pipe("cascade_classifier")
    (ranked,) = nlp.get_pipe("cascade_segmenter").nbest(doc, 100)
    assert sum(found.probability for found in ranked) == pytest.approx(1.0)
    hypotheses = {}
    for found in ranked:
        places = [(span.start, span.end) for span in found.spans]
        for labels in product(classifier.labels, repeat=len(places)):
            spans = [(*place, label) for place, label in zip(places, labels, strict=True)]
            (of_types,) = classifier.probabilities([doc], [spans])
            hypotheses[tuple(spans)] = found.probability * math.prod(of_types.tolist())
    return hypotheses


def test_the_best_of_all_hypotheses() -> None:
    nlp = unsure()
    doc = nlp(make_doc(nlp.vocab, TEXT))
    expected = enumerated(nlp, doc)
    assert sum(expected.values()) == pytest.approx(1.0)
    ranked = sorted(expected.values(), reverse=True)
    for n in (1, 3, 100):
        (sentence,) = joint_hypotheses(nlp, doc, n)
        found = [hypothesis.probability for hypothesis in sentence.hypotheses]
        assert found == pytest.approx(ranked[:n], abs=1e-12)
    assert len({hypothesis.entities for hypothesis in sentence.hypotheses}) == 100
    for hypothesis in sentence.hypotheses:
        assert hypothesis.probability == pytest.approx(expected[hypothesis.entities], abs=1e-12)


def test_confidence_is_the_sum_over_hypotheses() -> None:
    """Also at other temperatures."""
    nlp = cascade(segmenter={"temperature": 0.5}, classifier={"temperature": 0.5})
    train(nlp, make_examples(nlp), updates=1)
    doc = nlp(make_doc(nlp.vocab, TEXT))
    (sentence,) = joint_hypotheses(nlp, doc, 100)
    left = 1 - sum(hypothesis.probability for hypothesis in sentence.hypotheses)
    assert doc.ents
    for entity, span in zip(doc.ents, bounds(doc.ents), strict=True):
        total = sum(r.probability for r in sentence.hypotheses if span in r.entities)
        assert total <= entity._.confidence + 1e-9
        assert total == pytest.approx(entity._.confidence, abs=left + 1e-9)
    assert left < 0.1


def test_segmentations_by_themselves() -> None:
    nlp = blank()
    add_segmenter(nlp, typed=True, set_ents=True)
    train(nlp, make_examples(nlp), updates=1)
    of_sentences(nlp)
    doc = nlp(make_doc(nlp.vocab, "Jurkat cells . AP-1", sentence_starts=[0, 3]))
    found = joint_hypotheses(nlp, doc, 4)
    lists = nlp.get_pipe("cascade_segmenter").nbest(doc, 4)
    for sentence, ranked in zip(found, lists, strict=True):
        assert [list(r.entities) for r in sentence.hypotheses] == [bounds(s.spans) for s in ranked]
        expected = [s.probability for s in ranked]
        assert [r.probability for r in sentence.hypotheses] == pytest.approx(expected)
        assert [r.segmentation for r in sentence.hypotheses] == pytest.approx(expected)
    assert [(s.start, s.end) for s in found] == [(0, 3), (3, 4)]


def test_a_rejected_span_says_so() -> None:
    nlp = unsure(reject=True)
    doc = nlp(make_doc(nlp.vocab, "The p53 gene"))
    (sentence,) = joint_hypotheses(nlp, doc, 100)
    labels = {label for hypothesis in sentence.hypotheses for _, _, label in hypothesis.entities}
    assert "O" in labels
    assert sum(r.probability for r in sentence.hypotheses) == pytest.approx(1.0, abs=0.05)


def test_what_is_asked_for(trained: Language) -> None:
    assert joint_hypotheses(trained, trained(""), 3) == []
    doc = trained("STAT5 binds the AP-1 site .")
    before = doc.to_bytes()
    (sentence,) = joint_hypotheses(trained, doc, 2)
    assert doc.to_bytes() == before
    assert list(sentence.hypotheses[0].entities) == bounds(doc.ents)
    shown = json.loads(json.dumps(sentence.to_json(doc)))
    assert shown["hypotheses"][0]["entities"][1]["text"] == "AP-1 site"
    with pytest.raises(ConfigError, match="take from 1 to 100"):
        joint_hypotheses(trained, doc, 0)
    nlp = blank()
    add_classifier(nlp)
    with pytest.raises(ConfigError, match="Hypotheses need a cascade_segmenter"):
        joint_hypotheses(nlp, doc, 2)


def test_no_probability_is_above_one() -> None:
    """Whatever rounding does to the logarithms of a segmenter that is far too sure."""
    nlp = blank()
    segmenter = add_segmenter(nlp, typed=True, set_ents=True, temperature=0.03)
    train(nlp, make_examples(nlp), updates=0)
    generator = np.random.default_rng(0)
    shape = segmenter.model.get_param("W").shape
    for _ in range(50):
        segmenter.model.set_param("W", generator.normal(size=shape).astype("f"))
        (sentence,) = joint_hypotheses(nlp, make_doc(nlp.vocab, SENTENCES[0][0]), 2)
        for hypothesis in sentence.hypotheses:
            assert max(hypothesis.segmentation, hypothesis.probability) <= 1.0


@pytest.mark.parametrize("temperature", [1.0, 4.0])
def test_segmentations_have_one_probability_everywhere(temperature: float) -> None:
    """`nbest`, joint hypotheses and confidences agree, at the component's temperature."""
    nlp = unsure()
    segmenter = nlp.get_pipe("cascade_segmenter")
    segmenter.temperature = temperature
    doc = make_doc(nlp.vocab, TEXT)
    (ranked,) = segmenter.nbest(doc, 100)
    total = math.fsum(math.exp(found.score / temperature) for found in ranked)
    expected = [math.exp(found.score / temperature) / total for found in ranked]
    assert [found.probability for found in ranked] == pytest.approx(expected, abs=1e-9)
    doc = nlp(doc)
    (sentence,) = joint_hypotheses(nlp, doc, 1)
    best = sentence.hypotheses[0]
    known = {tuple((s.start, s.end) for s in found.spans): found.probability for found in ranked}
    assert best.segmentation == pytest.approx(known[tuple(e[:2] for e in best.entities)])
    group = segmenter(doc).spans["cascade"]
    assert len(group) > 0
    for span, confidence in zip(group, group.attrs["scores"], strict=True):
        place = (span.start, span.end)
        having = [probability for spans, probability in known.items() if place in spans]
        assert confidence == pytest.approx(math.fsum(having), abs=1e-9)
