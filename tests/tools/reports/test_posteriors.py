"""Probabilities of given entities: enumeration, and the confidences of those that are found."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from spacy.language import Language
from spacy.tokens import Doc

from helpers import (
    SENTENCES,
    SHORT,
    TEXTS,
    add_classifier,
    add_segmenter,
    annotation,
    blank,
    bounds,
    cascade,
    confidences,
    make_doc,
    make_examples,
    of_sentences,
    segmenter_alone,
    train,
)
from spacy_cascade.tools.reports.reading import entity_probabilities, stages_of


@pytest.fixture(scope="module")
def unsure() -> Language:
    nlp = cascade(segmenter={"temperature": 0.5}, classifier={"temperature": 2.0})
    train(nlp, make_examples(nlp), updates=1)
    return nlp


def read(nlp: Language, texts: list[str] = TEXTS) -> list[Doc]:
    return list(nlp.pipe(make_doc(nlp.vocab, text) for text in texts))


@pytest.mark.parametrize("scheme", ["BILOU", "IOB2"])
@pytest.mark.parametrize("typed", [False, True])
def test_posteriors_of_found_spans_are_their_confidences(typed: bool, scheme: str) -> None:
    nlp = segmenter_alone(typed=typed, scheme=scheme)
    docs = read(nlp, [*TEXTS, ""])
    before = [annotation(doc) for doc in docs]
    spans = [bounds(doc.spans["cascade"]) for doc in docs]
    assert sum(map(len, spans)) > 5
    posteriors = nlp.get_pipe("cascade_segmenter").posteriors(docs, spans)
    assert [p.tolist() for p in posteriors] == [confidences(doc) for doc in docs]
    assert [annotation(doc) for doc in docs] == before


@pytest.mark.parametrize("scheme", ["BILOU", "IOB2"])
def test_posteriors_are_sums_over_all_segmentations(scheme: str) -> None:
    segmenter = segmenter_alone(scheme=scheme).get_pipe("cascade_segmenter")
    for text in SHORT:
        doc = make_doc(segmenter.vocab, text)
        (ranked,) = segmenter.nbest(doc, 100)
        assert sum(found.probability for found in ranked) == pytest.approx(1.0, abs=1e-9)
        for start, end in combinations(range(len(doc) + 1), 2):
            expected = sum(
                found.probability
                for found in ranked
                if any((s.start, s.end) == (start, end) for s in found.spans)
            )
            ((posterior,),) = segmenter.posteriors([doc], [[(start, end, "any")]])
            assert posterior == pytest.approx(expected, abs=1e-9)


def test_what_no_path_has_is_impossible() -> None:
    segmenter = of_sentences(segmenter_alone(typed=True)).get_pipe("cascade_segmenter")
    one = make_doc(segmenter.vocab, "Jurkat cells . STAT5 binds .", sentence_starts=[0, 3])
    spans = [(0, 2, "cell"), (0, 1, "drug"), (2, 4, "cell"), (3, 4, "protein")]
    alone = [segmenter.posteriors([one], [[span]])[0].item() for span in spans]
    assert [p > 0 for p in alone] == [True, False, False, True]
    together = segmenter.posteriors([one, make_doc(segmenter.vocab, "")], [spans[::3], []])
    assert together[0].tolist() == alone[::3]
    assert together[1].tolist() == []
    assert segmenter.posteriors([], []) == []


def test_probabilities_of_labels(unsure: Language) -> None:
    classifier = unsure.get_pipe("cascade_classifier")
    docs = read(unsure)
    spans = [spans for _, spans in SENTENCES]
    before = [annotation(doc) for doc in docs]
    of_label = {
        label: np.concatenate(
            classifier.probabilities(docs, [[(s, e, label) for s, e, _ in of] for of in spans])
        )
        for label in (*classifier.labels, "drug")
    }
    assert [annotation(doc) for doc in docs] == before
    assert not of_label.pop("drug").any()
    assert np.allclose(sum(of_label.values()), 1.0)
    best = np.array(list(of_label))[np.argmax(list(of_label.values()), axis=0)]
    pairs = [[(start, end) for start, end, _ in of_doc] for of_doc in spans]
    assert best.tolist() == [t for of_doc in classifier.classify(docs, pairs) for t in of_doc]


def test_a_rejecting_classifier_keeps_some_probability_back() -> None:
    nlp = cascade(classifier={"reject": True})
    train(nlp, make_examples(nlp), updates=1)
    classifier = nlp.get_pipe("cascade_classifier")
    docs = [make_doc(nlp.vocab, SENTENCES[1][0])]
    total = sum(classifier.probabilities(docs, [[(0, 1, t)]])[0][0] for t in classifier.labels)
    assert 0.0 < total < 1.0


def test_probabilities_of_found_entities_are_their_confidences(unsure: Language) -> None:
    docs = read(unsure)
    entities = [bounds(doc.ents) for doc in docs]
    assert sum(map(len, entities)) > 5
    found = entity_probabilities(stages_of(unsure), docs, entities)
    for doc, p in zip(docs, found, strict=True):
        assert p.tolist() == pytest.approx([entity._.confidence for entity in doc.ents])


def test_a_typed_segmenter_before_a_classifier_counts_by_bounds() -> None:
    nlp = cascade(segmenter={"typed": True})
    train(nlp, make_examples(nlp), updates=1)
    segmenter, classifier = stages_of(nlp)
    docs = read(nlp, SHORT)
    entities = [[(0, 1, "cell")], [(1, 2, "DNA")], [(0, 1, "protein")]]
    of_span = sum(
        np.array(segmenter.posteriors(docs, [[(s, e, t)] for ((s, e, _),) in entities]))
        for t in segmenter.labels
    )
    expected = of_span * np.array(classifier.probabilities(docs, entities))
    found = entity_probabilities((segmenter, classifier), docs, entities)
    assert np.array(found) == pytest.approx(expected)


def test_a_segmenter_alone_gives_nothing_to_labels_of_others() -> None:
    nlp = segmenter_alone(set_ents=True)
    docs = read(nlp, SHORT[:1])
    (found,) = entity_probabilities(stages_of(nlp), docs, [[(0, 2, "ENT"), (3, 4, "protein")]])
    assert found[0] > 0
    assert found[1] == 0


@pytest.mark.parametrize(
    ("segmenter", "classifier", "expected"),
    [
        ({}, {}, ["cascade_segmenter", "cascade_classifier"]),
        ({"set_ents": True}, {}, ["cascade_segmenter", "cascade_classifier"]),
        ({"set_ents": True}, {"set_ents": False}, ["cascade_segmenter", None]),
        ({}, {"set_ents": False}, None),
        ({"confidence": False}, {}, None),
        ({}, {"confidence": False}, None),
        ({}, {"spans_key": None}, None),
    ],
)
def test_stages_are_those_that_the_entities_come_from(
    segmenter: dict[str, object], classifier: dict[str, object], expected: list[str] | None
) -> None:
    found = stages_of(cascade(segmenter, classifier))
    names = None if found is None else [None if stage is None else stage.name for stage in found]
    assert names == expected


def test_stages_of_a_reranker_are_those_before_it() -> None:
    nlp = blank()
    add_segmenter(nlp, n_best=2)
    add_classifier(nlp, set_ents=False)
    nlp.add_pipe("cascade_reranker")
    found = stages_of(nlp)
    assert [stage.name for stage in found] == ["cascade_segmenter", "cascade_classifier"]
    assert stages_of(blank()) is None
