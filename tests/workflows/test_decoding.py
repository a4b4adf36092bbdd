"""Decoding for expected F1: the entities chosen, what stays, and what cannot be combined."""

from __future__ import annotations

import pickle
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

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
from reference import best_disjoint_gain
from spacy_cascade import ConfigError, TrainingError
from spacy_cascade.pipeline.spans.placing import LabelledSpan
from spacy_cascade.workflows.decoding import Decoded, decode_for_f1

UNSURE = {"temperature": 3.0}
NEW = "Both T cells and the STAT5 site bind Jurkat p53 cells ."
SEGMENTER, CLASSIFIER = "cascade_segmenter", "cascade_classifier"


def docs_of(nlp: Language) -> list[Doc]:
    return [make_doc(nlp.vocab, text) for text in (*TEXTS, NEW)]


@pytest.fixture(scope="module")
def trained() -> Language:
    return trained_cascade(UNSURE, UNSURE)


@pytest.fixture(scope="module")
def decoded(trained: Language) -> tuple[Language, Decoded]:
    return decode_for_f1(trained, docs_of(trained))


def entities(nlp: Language) -> list[list[LabelledSpan]]:
    return [bounds(doc.ents) for doc in nlp.pipe(docs_of(nlp))]


def everything(nlp: Language) -> list[list[tuple[LabelledSpan, float]]]:
    """All spans above the least probability with their types and confidences, of each Doc."""
    nlp = deepcopy(nlp)
    segmenter = nlp.get_pipe(SEGMENTER)
    segmenter.cfg = {"overlapping": True, "threshold": 0.0, "label_thresholds": {}}
    docs = nlp.pipe(docs_of(nlp))
    return [
        list(zip(bounds(doc.spans["cascade"]), confidences(doc) or [], strict=True)) for doc in docs
    ]


def test_entities_have_the_greatest_expected_f1(
    trained: Language, decoded: tuple[Language, Decoded]
) -> None:
    """Their gains over half the F1 are the largest, and no other threshold promises more."""
    nlp, found = decoded
    right = number = 0.0
    for of_doc, chosen in zip(everything(trained), entities(nlp), strict=True):
        sure = dict(of_doc)
        likely = [(s, c) for s, c in of_doc if c >= found.threshold]
        gains = [c - found.threshold for _, c in likely]
        best = best_disjoint_gain([s[:2] for s, _ in likely], gains)
        assert sum(sure[s] - found.threshold for s in chosen) == pytest.approx(best)
        right += sum(sure[s] for s in chosen)
        number += len(chosen)
    segmenter = deepcopy(trained).get_pipe(SEGMENTER)
    segmenter.cfg = {"overlapping": True, "threshold": 0.0}
    n_expected = sum(s.confidences.sum() for s in segmenter.predict(docs_of(trained)))
    assert found.f1 == pytest.approx(2 * right / (number + n_expected), abs=1e-6)
    assert found.threshold == pytest.approx(found.f1 / 2, abs=1e-3)
    assert (found.component, found.n_chosen) == (CLASSIFIER, number)
    assert found.n_listed == sum(map(len, everything(trained)))
    assert 0 < found.n_chosen < found.n_listed


def test_the_pipeline_stays_as_it_is_and_the_copy_says_what_it_does(
    trained: Language, decoded: tuple[Language, Decoded]
) -> None:
    nlp, found = decoded
    assert not trained.get_pipe(SEGMENTER).overlapping
    assert trained.get_pipe(CLASSIFIER).threshold == 0.0
    assert nlp.get_pipe(SEGMENTER).overlapping
    assert nlp.get_pipe(SEGMENTER).threshold == 0.0
    assert nlp.get_pipe(CLASSIFIER).threshold == found.threshold
    assert nlp.config["components"][CLASSIFIER]["threshold"] == found.threshold


def test_copies_and_saved_pipelines_choose_the_same(
    decoded: tuple[Language, Decoded], tmp_path: Path
) -> None:
    nlp, _ = decoded
    wanted = entities(nlp)
    nlp.to_disk(tmp_path)
    for other in (deepcopy(nlp), pickle.loads(pickle.dumps(nlp)), spacy.load(tmp_path)):
        assert entities(other) == wanted


def test_a_threshold_of_a_list_is_chosen_anew(decoded: tuple[Language, Decoded]) -> None:
    nlp, found = decoded
    for before in (0.05, 0.9):
        other = deepcopy(nlp)
        for name in (SEGMENTER, CLASSIFIER):
            other.get_pipe(name).threshold = before
        _, again = decode_for_f1(other, docs_of(other))
        assert again == found


def test_a_single_phase_recogniser() -> None:
    nlp = blank()
    add_segmenter(nlp, typed=True, set_ents=True, label_thresholds={"cell": 1.0}, **UNSURE)
    train(nlp, make_examples(nlp))
    nlp, found = decode_for_f1(nlp, docs_of(nlp))
    segmenter = nlp.get_pipe(SEGMENTER)
    assert found.component == SEGMENTER
    assert (segmenter.overlapping, segmenter.threshold) == (True, found.threshold)
    assert {label for of_doc in entities(nlp) for _, _, label in of_doc} == {"DNA", "protein"}


def test_rejected_spans_are_not_expected() -> None:
    """One class fewer to choose from: what is expected is less than all likely spans."""
    nlp = cascade(UNSURE, {"reject": True, **UNSURE})
    proposals = [(text, [*spans, (0, 1, "x")][-1:]) for text, spans in SENTENCES]
    examples = make_examples(nlp)
    for example, (_, spans) in zip(examples, proposals, strict=True):
        doc = example.predicted
        doc.spans["cascade"] = [Span(doc, s, e, "ENT") for s, e, _ in spans]
    train(nlp, examples)
    listed = sum(len(of_doc) for of_doc in everything(nlp))
    rejected = sum(label == "ENT" for doc in everything(nlp) for (_, _, label), _ in doc)
    _, found = decode_for_f1(nlp, docs_of(nlp))
    assert rejected > 0
    assert found.n_listed == listed - rejected


@pytest.mark.parametrize(
    ("segmenter", "classifier", "message"),
    [
        ({"n_best": 3}, {}, "writes the 3 best segmentations"),
        ({"confidence": False}, {}, "'cascade_segmenter' gives no confidences"),
        ({}, {"threshold": 0.5}, r"'cascade_classifier' has the threshold 0\.5"),
        ({}, {"spans_key": "other"}, "No cascade_segmenter finds the entities"),
    ],
)
def test_what_cannot_be_combined(
    trained: Language, segmenter: dict[str, Any], classifier: dict[str, Any], message: str
) -> None:
    nlp = deepcopy(trained)
    nlp.get_pipe(SEGMENTER).cfg = segmenter
    nlp.get_pipe(CLASSIFIER).cfg = classifier
    with pytest.raises(ConfigError, match=message):
        decode_for_f1(nlp, docs_of(nlp))


def test_what_comes_after_the_entities_is_not_run(trained: Language) -> None:
    """It might change them, and takes its time."""

    @Language.component("refusing")
    def refuse(doc: Doc) -> Doc:
        raise AssertionError(doc.text)

    nlp = deepcopy(trained)
    nlp.add_pipe("refusing")
    assert decode_for_f1(nlp, docs_of(nlp))[1] == decode_for_f1(trained, docs_of(trained))[1]


def test_docs_without_likely_spans(trained: Language) -> None:
    for docs in ([], [Doc(trained.vocab)]):
        with pytest.raises(TrainingError, match="lists no likely spans"):
            decode_for_f1(trained, docs)
