"""Opinions of pipelines about Docs, and how several become one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from spacy.tokens import Doc

from helpers import TEXTS, add_segmenter, blank, cascade, make_doc, trained_cascade
from spacy_cascade.errors import ConfigError
from spacy_cascade.systems.unlabelled.opinions import (
    Opinion,
    averaged,
    consistent,
    opinions_of,
)
from spacy_cascade.tools.reports.reading import entity_probabilities, stages_of

ONE = Opinion({(0, 1, "A"): 0.8, (2, 3, "B"): 0.4}, np.array([0.8, 0.0, 0.5]))
OTHER = Opinion({(0, 1, "A"): 0.6, (1, 3, "B"): 0.2}, np.array([0.7, 0.3, 0.2]))


def test_an_average_counts_what_is_not_listed_as_improbable() -> None:
    (found,) = averaged([[ONE], [OTHER]])
    expected = {(0, 1, "A"): 0.7, (1, 3, "B"): 0.1, (2, 3, "B"): 0.2}
    assert found.confidences == pytest.approx(expected)
    assert found.inside == pytest.approx([0.75, 0.15, 0.35])


def test_places_of_a_phrase_vouch_for_each_other() -> None:
    vocab = blank().vocab
    docs = [make_doc(vocab, "in New York"), make_doc(vocab, "New York and New"), Doc(vocab, [])]
    opinions = [
        Opinion({(1, 3, "LOC"): 0.9, (1, 2, "LOC"): 0.1, (1, 3, "ORG"): 0.1}, np.zeros(3)),
        Opinion({(0, 2, "LOC"): 0.3}, np.zeros(4)),
        Opinion({}, np.zeros(0)),
    ]
    found = consistent(docs, opinions)
    for doc, before, after in zip(docs, opinions, found, strict=True):
        assert after.confidences.keys() == before.confidences.keys()
        for (start, end, label), confidence in before.confidences.items():
            every = [
                opinion.confidences.get((i, j, label), 0.0)
                for other, opinion in zip(docs, opinions, strict=True)
                for i, j in product(range(len(other) + 1), repeat=2)
                if i < j and other[i:j].text == doc[start:end].text
            ]
            expected = (confidence + sum(every) / len(every)) / 2
            assert after.confidences[start, end, label] == pytest.approx(expected)
    assert found[0].confidences[1, 2, "LOC"] == pytest.approx((0.1 + 0.1 / 3) / 2)


def test_confidences_are_exact_and_gold_is_not_seen() -> None:
    nlp = trained_cascade()
    docs = [make_doc(nlp.vocab, text) for text in TEXTS]
    for doc in docs:
        doc.set_ents([], default="outside")
    found = opinions_of(nlp, docs)
    stages = stages_of(nlp)
    assert stages is not None
    segmenter, _ = stages
    for doc, opinion in zip(docs, found, strict=True):
        for span, confidence in opinion.confidences.items():
            ((expected,),) = entity_probabilities(stages, [doc], [[span]])
            assert confidence == pytest.approx(expected, abs=1e-6)
        inside = np.zeros(len(doc))
        for start, end, _ in opinion.confidences:
            ((probability,),) = segmenter.posteriors([doc], [[(start, end, *segmenter.labels)]])
            inside[start:end] += probability
        assert opinion.inside == pytest.approx(np.minimum(inside, 1.0), abs=1e-6)
        assert not doc.ents


def test_pipelines_without_confidences_are_refused() -> None:
    nlp = blank()
    with pytest.raises(ConfigError, match="needs a cascade_segmenter"):
        opinions_of(nlp, [])
    add_segmenter(nlp, confidence=False, set_ents=True)
    for pipeline in (nlp, cascade({"confidence": False}), cascade({}, {"confidence": False})):
        with pytest.raises(ConfigError, match="gives confidences"):
            opinions_of(pipeline, [])
