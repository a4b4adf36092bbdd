"""Temperatures: the optimum, what they change, and what they leave alone."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import expit
from spacy.language import Language
from spacy.tokens import DocBin

from helpers import SENTENCES, TEXTS, add_segmenter, blank, make_examples, trained_cascade
from spacy_cascade import ConfigError, TrainingError
from spacy_cascade.callbacks.calibrate import make_calibration
from spacy_cascade.pipeline.calibration import (
    RANGE,
    HasConfidences,
    Outcomes,
    best_temperature,
    gives_confidences,
    log_loss,
)
from spacy_cascade.workflows.calibrate import calibrate


def sigmoid_outcomes(scores: np.ndarray, right: np.ndarray) -> Outcomes:
    return Outcomes(right, lambda temperature: expit(scores / temperature))


@pytest.fixture(scope="module")
def trained() -> Language:
    return trained_cascade()


@pytest.fixture
def examples(trained: Language):
    return make_examples(trained)


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
    assert found[0].n_spans == sum(len(doc.spans["cascade"]) for doc in trained.pipe(TEXTS))
    for before, after in zip(trained.pipe(TEXTS), calibrated.pipe(TEXTS), strict=True):
        assert [(e.start, e.end, e.label) for e in before.ents] == [
            (e.start, e.end, e.label) for e in after.ents
        ]


def test_a_temperature_divides_scores(trained: Language, tmp_path: Path) -> None:
    """As if all weights were divided by it."""
    trained.to_disk(tmp_path)
    hot = {name: {"temperature": 2.0} for name in trained.pipe_names}
    by_setting = spacy.load(tmp_path, config={"components": hot})
    by_weights = spacy.load(tmp_path)
    for _, pipe in by_weights.pipeline:
        for name in ("W", "transitions"):
            pipe.model.set_param(name, pipe.model.get_param(name) / 2)
    cool, warm, divided = (
        np.concatenate([doc.spans["cascade"].attrs["scores"] for doc in nlp.pipe(TEXTS)])
        for nlp in (trained, by_setting, by_weights)
    )
    np.testing.assert_allclose(warm, divided, rtol=1e-6)
    assert (warm < cool).all()


def test_lists_keep_their_scores(trained: Language, tmp_path: Path) -> None:
    """A reranker was trained on them."""
    trained.to_disk(tmp_path)
    components = {"cascade_segmenter": {"n_best": 2}, "cascade_classifier": {}}
    plain = spacy.load(tmp_path, config={"components": components})
    for settings in components.values():
        settings["temperature"] = 3.0
    hot = spacy.load(tmp_path, config={"components": components})
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


def test_the_callback_calibrates_what_is_saved(trained: Language, examples, tmp_path: Path) -> None:
    path = tmp_path / "dev.spacy"
    DocBin(docs=[example.reference for example in examples]).to_disk(path)
    saved = make_calibration(str(path))(trained)
    assert saved.get_pipe("cascade_segmenter").temperature != 1.0
    assert saved.config["components"]["cascade_classifier"]["temperature"] != 1.0


def test_training_goes_on_where_nothing_is_found_yet(trained: Language, tmp_path: Path) -> None:
    path = tmp_path / "dev.spacy"
    DocBin(docs=[make_examples(trained)[4].reference]).to_disk(path)
    with pytest.warns(UserWarning, match="not calibrated. 'cascade_segmenter' finds no spans"):
        assert make_calibration(str(path))(trained) is trained


def test_what_cannot_be_calibrated(trained: Language, examples) -> None:
    with pytest.raises(ConfigError, match="No component of the pipeline gives confidences"):
        calibrate(trained_cascade({"confidence": False}, {"confidence": False}), examples)
    with pytest.raises(ConfigError, match="needs a path"):
        make_calibration(None)(trained)
    with pytest.raises(TrainingError, match="'cascade_segmenter' finds no spans"):
        calibrate(trained, [])
    with pytest.raises(TrainingError, match="'cascade_segmenter' finds no spans"):
        calibrate(trained, make_examples(trained)[4:5])
    message = "temperature of 'cascade_segmenter' must be greater than 0"
    for temperature in (0.0, -1.0):
        with pytest.raises(ConfigError, match=message):
            add_segmenter(blank(), temperature=temperature)


def test_components_with_confidences_are_known_on_any_python() -> None:
    """From Python 3.12 on, `isinstance` does not call `__getattr__`, which gives the options."""
    nlp = blank()
    for name in ("cascade_segmenter", "cascade_classifier"):
        pipe = nlp.add_pipe(name)
        for member in {*HasConfidences.__annotations__, "outcomes"}:
            inspect.getattr_static(pipe, member)
        assert gives_confidences(pipe)
        pipe.confidence = False
        assert not gives_confidences(pipe)
    assert not gives_confidences(nlp.add_pipe("sentencizer"))
