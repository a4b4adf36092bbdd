"""One threshold, that of the component which writes the entities, is turned in both directions."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from helpers import (
    SENTENCES,
    TEXTS,
    add_segmenter,
    blank,
    bounds,
    cascade,
    confidences,
    make_doc,
    make_examples,
    train,
    trained_cascade,
)
from spacy_cascade.workflows.decoding import decode_for_f1

SEGMENTER, CLASSIFIER = "cascade_segmenter", "cascade_classifier"
UNSURE = {"temperature": 3.0}
NEW = "Both T cells and the STAT5 site bind Jurkat p53 cells ."
THRESHOLDS = [0.9, 0.5, 0.3, 0.2, 0.1, 0.05, 0.01, 0.0]


def docs_of(nlp: Language) -> list[Doc]:
    return [make_doc(nlp.vocab, text) for text in (*TEXTS, NEW)]


def single_phase() -> Language:
    nlp = blank()
    add_segmenter(nlp, typed=True, set_ents=True, **UNSURE)
    train(nlp, make_examples(nlp))
    return nlp


def best(nlp: Language) -> Language:
    return nlp


def listing(nlp: Language) -> Language:
    nlp.get_pipe(SEGMENTER).overlapping = True
    return nlp


def expected_f1(nlp: Language) -> Language:
    return decode_for_f1(nlp, docs_of(nlp))[0]


@pytest.fixture(scope="module", params=[SEGMENTER, CLASSIFIER])
def made(request: pytest.FixtureRequest) -> tuple[Language, str]:
    """A pipeline that is sure of little, and the component that writes its entities."""
    nlp = single_phase() if request.param == SEGMENTER else trained_cascade(UNSURE, UNSURE)
    return nlp, request.param


def n_entities(nlp: Language) -> int:
    return sum(len(doc.ents) for doc in nlp.pipe(docs_of(nlp)))


@pytest.mark.parametrize("decoding", [best, listing, expected_f1])
def test_entities_get_more_with_each_lower_threshold(
    made: tuple[Language, str], decoding: Callable[[Language], Language], tmp_path: Path
) -> None:
    """Whether it is assigned, as `cfg` by spaCy's find-threshold, or overridden while loading."""
    nlp, name = copy.deepcopy(made[0]), made[1]
    nlp = decoding(nlp)
    numbers = []
    for threshold in THRESHOLDS:
        nlp.get_pipe(name).threshold = threshold
        numbers.append(n_entities(nlp))
    assert numbers == sorted(numbers)
    assert len(set(numbers)) > (2 if decoding is best else 4)
    if decoding is not best:
        n_gold = sum(len(spans) for _, spans in SENTENCES)
        assert numbers[0] < n_gold < numbers[-1]
    for threshold, number in reversed(list(zip(THRESHOLDS, numbers, strict=True))):
        pipe: Any = nlp.get_pipe(name)
        pipe.cfg = {**pipe.cfg, "threshold": threshold}
        assert n_entities(nlp) == number
    nlp.to_disk(tmp_path)
    for threshold in (0.5, 0.05):
        loaded = spacy.load(tmp_path, config={f"components.{name}.threshold": threshold})
        assert n_entities(loaded) == numbers[THRESHOLDS.index(threshold)]


# What is listed


@pytest.fixture
def nlp() -> Language:
    return listing(trained_cascade(UNSURE, UNSURE))


def listed(nlp: Language) -> list[list[float]]:
    """The confidences of the bounds that a segmenter lists."""
    with nlp.select_pipes(enable=SEGMENTER):
        whole = [nlp(doc) for doc in docs_of(nlp)]
    everything = [
        dict(zip(bounds(doc.spans["cascade"]), confidences(doc) or [], strict=True))
        for doc in whole
    ]
    docs = [nlp(doc) for doc in docs_of(nlp)]
    return [
        [of_bounds[start, end, "ENT"] for start, end, _ in bounds(doc.spans["cascade"])]
        for doc, of_bounds in zip(docs, everything, strict=True)
    ]


def test_the_list_has_what_can_become_an_entity(nlp: Language) -> None:
    classifier, segmenter = nlp.get_pipe(CLASSIFIER), nlp.get_pipe(SEGMENTER)
    whole = sum(map(len, listed(nlp)))
    classifier.threshold = 0.25
    sure = [c for of_doc in listed(nlp) for c in of_doc]
    assert min(sure) >= 0.25
    assert len(sure) < whole
    classifier.label_thresholds = {"cell": 0.1}
    assert 0.1 <= min(c for of_doc in listed(nlp) for c in of_doc) < 0.25
    segmenter.threshold = 0.01
    assert sum(map(len, listed(nlp))) == whole
    segmenter.threshold = 0.5
    assert min(c for of_doc in listed(nlp) for c in of_doc) >= 0.5
    segmenter.threshold = 0.0
    segmenter.label_thresholds = {"ENT": 0.05}
    assert 0.05 <= min(c for of_doc in listed(nlp) for c in of_doc) < 0.1


def test_a_list_has_nothing_that_the_classifier_would_not_take() -> None:
    """Weights of zero make every segmentation as likely as any other."""
    nlp = cascade({"overlapping": True})
    nlp.initialize(lambda: make_examples(nlp)[:1])
    segmenter, classifier = nlp.get_pipe(SEGMENTER), nlp.get_pipe(CLASSIFIER)
    docs = [make_doc(nlp.vocab, "a b c")]
    (whole,) = segmenter.predict(docs)
    assert len(whole.confidences) == 6  # all spans
    classifier.threshold = threshold = float(np.median(whole.confidences))
    (listed,) = segmenter.predict(docs)
    expected = whole.confidences[whole.confidences >= threshold]
    assert 0 < len(expected) < 6
    assert listed.confidences.tolist() == expected.tolist()
    segmenter.label_thresholds = {"ENT": 1.0}
    assert len(segmenter.predict(docs)[0].confidences) == 0


@pytest.mark.parametrize(
    "settings", [{"set_ents": False}, {"spans_key": None}, {"confidence": False}]
)
def test_a_classifier_that_does_not_choose_asks_for_nothing(
    nlp: Language, settings: dict[str, Any]
) -> None:
    classifier: Any = nlp.get_pipe(CLASSIFIER)
    with nlp.select_pipes(enable=SEGMENTER):
        whole = [len(nlp(doc).spans["cascade"]) for doc in docs_of(nlp)]
        classifier.threshold = 0.5
        assert [len(nlp(doc).spans["cascade"]) for doc in docs_of(nlp)] == whole
    classifier.cfg = {"threshold": 0.0 if "confidence" in settings else 0.5, **settings}
    assert [len(nlp(doc).spans["cascade"]) for doc in docs_of(nlp)] == whole


def test_a_component_in_another_process_lists_the_same(nlp: Language) -> None:
    """It is pickled by itself, without the pipeline."""
    classifier: Any = nlp.get_pipe(CLASSIFIER)
    with nlp.select_pipes(enable=SEGMENTER):
        whole = sum(len(nlp(doc).spans["cascade"]) for doc in docs_of(nlp))
    classifier.threshold = 0.25
    alone = pickle.loads(pickle.dumps(nlp.get_pipe(SEGMENTER)))
    assert alone.pipeline is None
    found = [len(alone(doc).spans["cascade"]) for doc in docs_of(nlp)]
    assert found == [len(nlp(doc).spans["cascade"]) for doc in docs_of(nlp)]
    assert sum(found) < whole


# Scores


@pytest.mark.parametrize("decoding", [listing, expected_f1])
def test_segments_are_those_of_the_entities(
    made: tuple[Language, str], decoding: Callable[[Language], Language]
) -> None:
    """And `candidates` those of the spans that they are chosen from."""
    nlp, name = decoding(copy.deepcopy(made[0])), made[1]
    nlp.get_pipe(name).threshold = 0.1
    examples = make_examples(nlp)
    scores = nlp.evaluate(examples)
    docs = [nlp(example.predicted.copy()) for example in examples]
    gold = {(i, *s[:2]) for i, (_, spans) in enumerate(SENTENCES) for s in spans}
    groups = {"segments": [d.ents for d in docs], "candidates": [d.spans["cascade"] for d in docs]}
    for what, spans in groups.items():
        found = {(i, span.start, span.end) for i, of_doc in enumerate(spans) for span in of_doc}
        assert scores[f"{what}_p"] == pytest.approx(len(found & gold) / len(found))
        assert scores[f"{what}_r"] == pytest.approx(len(found & gold) / len(gold))
    assert scores["candidates_p"] < scores["segments_p"]
