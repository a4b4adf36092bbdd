"""Uncertainty of spans and sentences against the enumeration of all hypotheses."""

from __future__ import annotations

from collections import defaultdict
from math import log2

import numpy as np
import pytest
from spacy.language import Language

from helpers import add_classifier, annotation, blank, cascade, make_doc, make_examples, train
from spacy_cascade import uncertainty
from spacy_cascade.errors import ConfigError
from spacy_cascade.tools.explaining.hypotheses import joint_hypotheses
from spacy_cascade.tools.explaining.uncertainty import MEASURES

TEXTS = ["The p53 gene", "Jurkat cells", "cells"]
"""So short that all of their hypotheses can be listed."""
Distributions = dict[tuple[int, int], dict[str, float]]


@pytest.fixture(scope="module")
def unsure() -> Language:
    nlp = cascade(segmenter={"temperature": 2.0}, classifier={"temperature": 2.0})
    train(nlp, make_examples(nlp), updates=1)
    return nlp


def enumerated(nlp: Language, text: str) -> Distributions:
    """For each span the probabilities of its labels, summed over all hypotheses of the text."""
    (sentence,) = joint_hypotheses(nlp, nlp(make_doc(nlp.vocab, text)), 100)
    assert sum(h.probability for h in sentence.hypotheses) == pytest.approx(1.0, abs=1e-9)
    found: Distributions = defaultdict(lambda: defaultdict(float))
    for hypothesis in sentence.hypotheses:
        for start, end, label in hypothesis.entities:
            found[start, end][label] += hypothesis.probability
    return found


def entropy(of_labels: dict[str, float]) -> float:
    values = [*of_labels.values(), 1.0 - sum(of_labels.values())]
    return -sum(p * log2(p) for p in values if p > 0)


def margin(of_labels: dict[str, float]) -> float:
    values = sorted([*of_labels.values(), 1.0 - sum(of_labels.values())])
    return 1.0 - (values[-1] - values[-2])


def least_confident(of_labels: dict[str, float]) -> float:
    return 1.0 - max(*of_labels.values(), 1.0 - sum(of_labels.values()))


TWINS = {"entropy": entropy, "margin": margin, "least_confident": least_confident}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("measure", MEASURES)
def test_spans_have_the_uncertainty_of_the_enumerated_labels(
    unsure: Language, measure: str, text: str
) -> None:
    truth = {
        span: labels for span, labels in enumerated(unsure, text).items()
        if sum(labels.values()) >= 0.01
    }  # fmt: skip
    doc = unsure(make_doc(unsure.vocab, text))
    before = annotation(doc)
    (sentence,) = uncertainty(unsure, doc, measure)
    assert annotation(doc) == before
    assert (sentence.start, sentence.end) == (0, len(doc))
    found = {(span.start, span.end): span for span in sentence.spans}
    assert found.keys() == truth.keys()
    for place, span in found.items():
        assert span.value == pytest.approx(TWINS[measure](truth[place]), abs=1e-6)
        assert span.probability == pytest.approx(max(truth[place].values()), abs=1e-6)
        assert span.probability == pytest.approx(truth[place][span.label], abs=1e-6)
    values = [span.value for span in sentence.spans]
    assert values == sorted(values, reverse=True)
    if measure == "entropy":
        assert sentence.value == pytest.approx(sum(map(entropy, truth.values())), abs=1e-6)


@pytest.mark.parametrize("text", TEXTS)
def test_sentences_are_measured_by_their_two_best_segmentations(
    unsure: Language, text: str
) -> None:
    doc = unsure(make_doc(unsure.vocab, text))
    (ranked,) = unsure.get_pipe("cascade_segmenter").nbest(doc, 2)
    one, other = (segmentation.probability for segmentation in ranked)
    assert uncertainty(unsure, doc, "margin")[0].value == pytest.approx(1 - (one - other))
    assert uncertainty(unsure, doc, "least_confident")[0].value == pytest.approx(1 - one)


def test_what_is_impossible_adds_nothing_to_an_entropy() -> None:
    """Whatever stood in the memory that it takes."""
    distributions = np.array([[1.0, 0.0, 0.0], [0.5, 0.0, 0.5]])
    free = np.full_like(distributions, np.nan)
    del free
    assert MEASURES["entropy"].of_spans(distributions).tolist() == [0.0, 1.0]


def test_only_the_labels_that_are_asked_for_count(unsure: Language) -> None:
    text = TEXTS[0]
    truth = enumerated(unsure, text)
    doc = unsure(make_doc(unsure.vocab, text))
    (sentence,) = uncertainty(unsure, doc, labels=["DNA"])
    assert {span.label for span in sentence.spans} == {"DNA"}
    for span in sentence.spans:
        expected = entropy({"DNA": truth[span.start, span.end]["DNA"]})
        assert span.value == pytest.approx(expected, abs=1e-6)
    (by_margin,) = uncertainty(unsure, doc, "margin", labels=["DNA"])
    assert by_margin.value == max(span.value for span in by_margin.spans)


def test_each_sentence_is_measured_and_a_typed_segmenter_needs_no_classifier() -> None:
    nlp = blank()
    settings = {"model": {"min_count": 1}, "typed": True, "set_ents": True}
    nlp.add_pipe("cascade_segmenter", config=settings)
    train(nlp, make_examples(nlp), updates=1)
    doc = nlp(make_doc(nlp.vocab, "Jurkat cells express p53 . The p53 gene .", [0, 5]))
    found = uncertainty(nlp, doc)
    assert [(s.start, s.end) for s in found] == [(0, 5), (5, 9)]
    for sentence in found:
        assert all(sentence.start <= s.start < s.end <= sentence.end for s in sentence.spans)
        assert {span.label for span in sentence.spans} <= {"protein", "DNA", "cell"}
    assert uncertainty(nlp, nlp.make_doc("")) == []


def test_what_cannot_be_measured_is_refused(unsure: Language) -> None:
    doc = unsure(TEXTS[0])
    with pytest.raises(ConfigError, match=r"no measure 'guess'.*entropy, margin"):
        uncertainty(unsure, doc, "guess")
    with pytest.raises(ConfigError, match="no label 'city'"):
        uncertainty(unsure, doc, labels=["city"])
    without = blank()
    add_classifier(without)
    with pytest.raises(ConfigError, match="needs a cascade_segmenter"):
        uncertainty(without, without.make_doc(TEXTS[0]))
