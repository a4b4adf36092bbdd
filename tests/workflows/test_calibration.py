"""Temperatures: the optimum, what they change, and what they leave alone."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import expit
from spacy.language import Language
from spacy.tokens import Doc

from helpers import SENTENCES, TEXTS, make_examples, trained_cascade
from spacy_cascade import ConfigError, TrainingError
from spacy_cascade.pipeline.calibration import (
    RANGE,
    Outcomes,
    best_temperature,
    log_loss,
)
from spacy_cascade.workflows.calibrate import calibrate, outcomes_of
from spacy_cascade.workflows.reconfigure import with_settings


def sigmoid_outcomes(scores: np.ndarray, right: np.ndarray) -> Outcomes:
    return Outcomes(right, lambda temperature: expit(scores / temperature))


@pytest.fixture
def examples(trained: Language):
    return make_examples(trained)


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_the_temperature_is_that_of_a_general_minimiser(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=300) * 3
    outcomes = sigmoid_outcomes(scores, rng.random(300) < expit(scores / rng.uniform(0.5, 4)))
    found = best_temperature(outcomes)
    best = minimize_scalar(
        lambda x: log_loss(outcomes, np.exp(x)), bounds=np.log(RANGE), method="bounded"
    )
    assert log_loss(outcomes, found) == pytest.approx(best.fun, abs=1e-5)


def test_the_temperature_of_the_scores_is_found_again() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=40_000) * 2
    right = rng.random(40_000) < expit(scores / 2.5)
    assert best_temperature(sigmoid_outcomes(scores, right)) == pytest.approx(2.5, rel=0.1)


def test_a_few_right_spans_make_nobody_certain() -> None:
    outcomes = sigmoid_outcomes(np.full(4, 2.0), np.ones(4, dtype=bool))
    temperature = best_temperature(outcomes)
    assert outcomes.confidences(temperature)[0] == pytest.approx(5 / 6, abs=1e-3)


def test_entities_stay_and_losses_fall(trained: Language, examples) -> None:
    calibrated, found = calibrate(trained, examples)
    assert [result.component for result in found] == ["cascade_segmenter", "cascade_classifier"]
    for result in found:
        assert RANGE[0] < result.temperature < RANGE[1]
        assert result.loss <= result.loss_before
        assert calibrated.get_pipe(result.component).temperature == result.temperature
        assert trained.get_pipe(result.component).temperature == 1.0
    for (name, outcomes), result in zip(outcomes_of(trained, examples), found, strict=True):
        losses = log_loss(outcomes, 1.0), log_loss(outcomes, result.temperature)
        assert (name, len(outcomes.right)) == (result.component, result.n_spans)
        assert (result.loss_before, result.loss) == losses
    assert found[0].n_spans == sum(len(doc.spans["cascade"]) for doc in trained.pipe(TEXTS))
    for before, after in zip(trained.pipe(TEXTS), calibrated.pipe(TEXTS), strict=True):
        assert [(e.start, e.end, e.label) for e in before.ents] == [
            (e.start, e.end, e.label) for e in after.ents
        ]


def test_what_comes_after_the_last_confidences_is_not_run(trained: Language, examples) -> None:
    @Language.component("unused_by_calibration")
    def refuse(doc: Doc) -> Doc:
        raise AssertionError(doc.text)

    nlp = deepcopy(trained)
    nlp.add_pipe("unused_by_calibration")
    assert calibrate(nlp, examples)[1] == calibrate(trained, examples)[1]


def test_a_temperature_divides_scores(trained: Language) -> None:
    """As if all weights were divided by it."""
    hot = {name: {"temperature": 2.0} for name in trained.pipe_names}
    by_setting, by_weights = with_settings(trained, hot), with_settings(trained)
    for _, pipe in by_weights.pipeline:
        for name in ("W", "transitions"):
            pipe.model.set_param(name, pipe.model.get_param(name) / 2)
    cool, warm, divided = (
        np.concatenate([doc.spans["cascade"].attrs["scores"] for doc in nlp.pipe(TEXTS)])
        for nlp in (trained, by_setting, by_weights)
    )
    np.testing.assert_allclose(warm, divided, rtol=1e-6)
    assert (warm < cool).all()


def test_lists_keep_their_scores(trained: Language) -> None:
    """A reranker was trained on them."""
    listing = {"cascade_segmenter": {"n_best": 2}}
    plain = with_settings(trained, listing)
    hot = with_settings(
        trained, listing, {name: {"temperature": 3.0} for name in trained.pipe_names}
    )
    for name in ("sequence_scores", "class_scores"):
        cool, warm = (nlp(TEXTS[0]).spans["cascade/1"].attrs[name] for nlp in (plain, hot))
        np.testing.assert_array_equal(cool, warm)


def test_wrong_spans_are_told_from_right_ones(trained: Language) -> None:
    """Of twelve spans found, the references have all but the three of DNA."""
    known = [(text, [span for span in spans if span[2] != "DNA"]) for text, spans in SENTENCES]
    examples = make_examples(trained, known)
    right = trained.get_pipe("cascade_segmenter").outcomes(examples).right
    assert (int(right.sum()), len(right)) == (9, 12)


def test_wrong_types_are_told_from_right_ones(trained: Language) -> None:
    """Of nine spans that the references have too, four are of cells."""
    known = [
        (text, [(start, end, "cell") for start, end, label in spans if label != "DNA"])
        for text, spans in SENTENCES
    ]
    examples = make_examples(trained, known)
    for example in examples:
        trained.get_pipe("cascade_segmenter")(example.predicted)
    right = trained.get_pipe("cascade_classifier").outcomes(examples).right
    assert (int(right.sum()), len(right)) == (4, 9)


def test_spans_without_annotation_do_not_count(trained: Language, examples) -> None:
    segmenter = trained.get_pipe("cascade_segmenter")
    before = len(segmenter.outcomes(examples).right)
    reference = examples[0].reference
    reference.set_ents([], missing=[reference[:]])
    assert len(segmenter.outcomes(examples).right) == before - 3


def test_rejection_counts_as_a_type() -> None:
    nlp = trained_cascade(classifier={"reject": True})
    without = [(text, spans[:1]) for text, spans in SENTENCES]
    _, found = calibrate(nlp, make_examples(nlp, without))[1]
    assert found.n_spans == sum(len(doc.spans["cascade"]) for doc in nlp.pipe(TEXTS))


def test_what_cannot_be_calibrated(trained: Language, examples) -> None:
    silent = with_settings(trained, {name: {"confidence": False} for name in trained.pipe_names})
    with pytest.raises(ConfigError, match="No component of the pipeline gives confidences"):
        calibrate(silent, examples)
    with pytest.raises(TrainingError, match="'cascade_segmenter' finds no spans"):
        calibrate(trained, make_examples(trained)[4:5])
