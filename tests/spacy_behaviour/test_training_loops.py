"""Loops of tutorials: with and without examples in `initialize`, and examples that change."""

from __future__ import annotations

import copy
import logging
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from spacy.language import Language
from spacy.tokens import Span
from spacy.training import Example
from spacy.util import minibatch

from every_component import (
    CLASSIFIER,
    LEARNERS,
    ONLINE,
    RERANKER,
    SEGMENTER,
    TAGGER,
    all_found,
    examples_for,
    found,
    knows_all,
    pipeline_with,
    tag_of,
    trained,
)
from helpers import SENTENCES, TEXTS, add_classifier, add_segmenter, blank, make_doc, weights
from spacy_cascade import TrainingError

BATCH: dict[str, Any] = {
    "loss": {"@misc": "spacy_cascade.SoftmaxMargin.v2"},
    "penalty": {"@misc": "spacy_cascade.Gaussian.v1"},
    "trainer": {"@misc": "spacy_cascade.LBFGS.v1", "iterations": 5, "threads": 1},
}
TRAINERS = {"whole corpus": BATCH, "online": ONLINE}
each_trainer = pytest.mark.parametrize(
    ("name", "trainer"),
    [(SEGMENTER, "online"), (CLASSIFIER, "whole corpus"), (CLASSIFIER, "online"),
     (TAGGER, "whole corpus")],
)  # fmt: skip
"""Each component, and each trainer of one of them."""


def labels_of(name: str) -> list[str]:
    """What a tutorial adds by `add_label`."""
    if name == TAGGER:
        return sorted({tag_of(word) for text in TEXTS for word in text.split()})
    return sorted({label for _, spans in SENTENCES for _, _, label in spans})


def loop(nlp: Language, size: int, n_passes: int = 5) -> list[dict[str, float]]:
    """Passes over the sentences in random order, with new Example objects in each."""
    rng, losses = random.Random(0), []
    for _ in range(n_passes):
        examples = examples_for(nlp)
        rng.shuffle(examples)
        losses.append({})
        for batch in minibatch(examples, size):
            nlp.update(batch, losses=losses[-1])
    return losses


def assert_same_weights(one: Language, other: Language, name: str) -> None:
    """To the last bit."""
    for pair in zip(weights(one.get_pipe(name)), weights(other.get_pipe(name)), strict=True):
        np.testing.assert_array_equal(*pair)


# Initialized without examples


@each_trainer
def test_a_loop_learns_that_was_begun_without_examples(name: str, trainer: str) -> None:
    nlp = pipeline_with(name, **TRAINERS[trainer])
    nlp.initialize()
    losses = loop(nlp, 2)
    assert losses[-1][name] != losses[1][name]
    assert knows_all(nlp, name)


@pytest.mark.parametrize("name", [CLASSIFIER, TAGGER])
@pytest.mark.parametrize("is_first", [False, True])
def test_labels_that_were_added_are_kept(name: str, is_first: bool) -> None:
    nlp = pipeline_with(name)
    if not is_first:
        nlp.initialize()
    for label in ["RARE", *labels_of(name)]:
        nlp.get_pipe(name).add_label(label)
    if is_first:
        nlp.initialize()
    loop(nlp, 3)
    assert set(nlp.get_pipe(name).labels) == {"RARE", *labels_of(name)}
    assert knows_all(nlp, name)


@pytest.mark.parametrize("name", LEARNERS)
def test_before_any_update_nothing_is_found(name: str) -> None:
    nlp = pipeline_with(name)
    for label in labels_of(name) if name != SEGMENTER else []:
        nlp.get_pipe(name).add_label(label)
    nlp.initialize()
    nlp.evaluate(examples_for(nlp))
    assert name == TAGGER or not any(all_found(nlp, name))


@each_trainer
def test_a_single_pass_is_learnt_when_it_is_used(name: str, trainer: str) -> None:
    nlp = pipeline_with(name, **TRAINERS[trainer])
    nlp.initialize()
    loop(nlp, 2, n_passes=1)
    twin = pipeline_with(name, **TRAINERS[trainer])
    data = nlp.to_bytes()
    assert any(all_found(nlp, name))
    assert all_found(twin.from_bytes(data), name) == all_found(nlp, name)


@pytest.mark.parametrize("model", ["SemiMarkov", "MaximumEntropyMarkov"])
def test_other_models_learn_so_too(model: str) -> None:
    """Also where a segmenter without weights finds spans, and a classifier has no types yet."""
    templates = {"@misc": "spacy_cascade.SegmentationTemplates.v1"}
    settings: dict[str, Any] = {"templates": templates, "min_count": 1}
    if model == "SemiMarkov":
        own = {"@misc": "spacy_cascade.SegmentTemplates.v1"}
        settings |= {"segments": own, "segment_min_count": 1}
    nlp = blank()
    architecture = {"@architectures": f"spacy_cascade.{model}.v1", **settings}
    add_segmenter(nlp, model=architecture, loss={"@misc": "spacy_cascade.Likelihood.v2"})
    add_classifier(nlp)
    nlp.initialize()
    assert not nlp(TEXTS[0]).ents
    loop(nlp, 2)
    assert knows_all(nlp, CLASSIFIER)


def test_the_model_is_made_of_all_examples(caplog: pytest.LogCaptureFixture) -> None:
    """It is that of a pipeline whose `initialize` was given them."""
    nlp, twin = pipeline_with(SEGMENTER), pipeline_with(SEGMENTER)
    examples = examples_for(nlp)
    nlp.initialize()
    with caplog.at_level(logging.INFO, "spacy"):
        for batch in minibatch(examples, 2):
            assert nlp.update(batch) == {SEGMENTER: 0.0}
        nlp.update(examples)
    assert "'cascade_segmenter' is made of 6 examples of update." in caplog.text
    twin.initialize(lambda: examples)
    twin.update(examples)
    for one, other in zip(
        *(weights(each.get_pipe(SEGMENTER)) for each in (nlp, twin)), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_a_reranker_says_what_to_pass() -> None:
    nlp = pipeline_with(RERANKER)
    nlp.initialize()
    with pytest.raises(TrainingError, match="annotating_components"):
        loop(nlp, 6, n_passes=2)


# Examples that change


def corrected(examples: list[Example], name: str, label: str) -> None:
    """Set the annotation of the last sentence's first word anew, in the reference itself."""
    reference = examples[-1].reference
    if name == TAGGER:
        reference[0].tag_ = label
    else:
        reference.ents = [Span(reference, 0, 1, label), *reference.ents]


def says(nlp: Language, name: str) -> Any:
    """What is found at the first word of the last sentence; None for nothing."""
    heard = found(nlp, name, make_doc(nlp.vocab, TEXTS[-1]))
    if name == TAGGER:
        return heard[0]
    return next((label for start, end, label in heard if (start, end) == (0, 1)), None)


@each_trainer
def test_a_corrected_reference_is_seen(name: str, trainer: str) -> None:
    nlp = pipeline_with(name, **TRAINERS[trainer])
    examples = examples_for(nlp)
    nlp.initialize(lambda: examples)
    for _ in range(4):
        nlp.update(examples)
    before = says(nlp, name)
    corrected(examples, name, "WORD" if name == TAGGER else "cell")
    for _ in range(8):
        nlp.update(examples)
    assert before == ("NAME" if name == TAGGER else None)
    assert says(nlp, name) == {SEGMENTER: "ENT", CLASSIFIER: "cell", TAGGER: "WORD"}[name]


@each_trainer
def test_a_loaded_pipeline_sees_a_corrected_reference(name: str, trainer: str) -> None:
    nlp = pipeline_with(name, **TRAINERS[trainer])
    nlp.from_bytes(trained(name, **TRAINERS[trainer]).to_bytes())
    examples = examples_for(nlp)
    nlp.update(examples)
    corrected(examples, name, "NEW")
    for _ in range(20):
        nlp.update(examples)
    if name != SEGMENTER:
        assert "NEW" in nlp.get_pipe(name).labels
    assert says(nlp, name) == ("ENT" if name == SEGMENTER else "NEW")


@pytest.mark.parametrize("name", [SEGMENTER, TAGGER])
def test_a_corrected_adaptation_ends_where_a_right_one_does(name: str) -> None:
    """The penalty is centred on what was loaded, whatever was taught meanwhile."""
    data, losses = trained(name, **BATCH).to_bytes(), []
    for is_wrong_first in (False, True):
        nlp = pipeline_with(name, **BATCH).from_bytes(data)
        examples = examples_for(nlp)
        corrected(examples, name, "cell")
        if is_wrong_first:
            wrong, right = examples_for(nlp)[-1].reference, examples[-1].reference
            examples[-1].reference = wrong
            nlp.update(examples)
            wrong.set_ents([Span(wrong, e.start, e.end, e.label) for e in right.ents])
            wrong[0].tag_ = right[0].tag_
        for _ in range(20):
            loss = nlp.update(examples)[name]
        losses.append(loss)
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


def test_weights_stay_when_a_reference_is_corrected() -> None:
    nlp = trained(CLASSIFIER, updates=0)
    examples = examples_for(nlp)
    nlp.initialize(lambda: examples)
    for _ in range(3):
        nlp.update(examples)
    before = nlp.update(examples)[SEGMENTER]
    corrected(examples, SEGMENTER, "cell")
    after = nlp.update(examples)[SEGMENTER]
    from_zero = pipeline_with(SEGMENTER)
    again = examples_for(from_zero)
    corrected(again, SEGMENTER, "cell")
    from_zero.initialize(lambda: again)
    assert before != after < from_zero.update(again)[SEGMENTER]


CHANGES: dict[str, Callable[[Example], None]] = {
    "an entity": lambda each: each.reference.set_ents([], default="outside"),
    "nothing is known": lambda each: each.reference.set_ents([], default="missing"),
    "a label": lambda each: each.reference.set_ents([Span(each.reference, 1, 3, "cell")]),
    "a sentence": lambda each: setattr(each.predicted[4], "is_sent_start", True),
}


def changed_after_an_update(name: str, change: str, is_new_fit: bool) -> Language:
    """Two updates; an example changes between them."""
    nlp = pipeline_with(name)
    examples = examples_for(nlp)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    CHANGES[change](examples[0])
    if is_new_fit:
        nlp.get_pipe(name).reset_fit()
    nlp.update(examples)
    return nlp


@pytest.mark.parametrize(
    ("name", "change"), [(CLASSIFIER, "a label"), *((SEGMENTER, change) for change in CHANGES)]
)
def test_any_change_counts(name: str, change: str) -> None:
    """Training goes on as one does that begins with the changed examples and these weights."""
    fits = (changed_after_an_update(name, change, is_new) for is_new in (False, True))
    assert_same_weights(*fits, name)


def test_examples_that_stay_are_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = pipeline_with(CLASSIFIER)
    nlp.initialize(lambda: examples_for(nlp))
    calls: list[int] = []
    component: Any = nlp.get_pipe(CLASSIFIER)
    fitted = component.fitted
    monkeypatch.setattr(component, "fitted", lambda *given: calls.append(1) or fitted(*given))
    rng = random.Random(0)
    for _ in range(4):
        examples = examples_for(nlp)
        rng.shuffle(examples)
        nlp.update(examples)
    assert len(calls) == 1


def test_a_classifier_sees_what_the_segmenter_proposes_later() -> None:
    nlp = pipeline_with(CLASSIFIER, reject=True)
    examples = examples_for(nlp)
    nlp.initialize(lambda: examples)
    classifier: Any = nlp.get_pipe(CLASSIFIER)
    n_spans = []
    for proposals in ([], [(0, 1), (0, 2)], [(0, 1)]):
        for example in examples:
            doc = example.predicted
            doc.spans["cascade"] = [Span(doc, *bounds, "ENT") for bounds in proposals]
        classifier.update(examples)
        n_spans.append(len(classifier._fit._objective.loss.data.observed))
    assert n_spans[1] > n_spans[2] > n_spans[0]


@pytest.mark.parametrize("name", LEARNERS)
def test_copies_leave_behind_what_an_adaptation_began_with(name: str) -> None:
    nlp = pipeline_with(name, **BATCH).from_bytes(trained(name, **BATCH).to_bytes())
    component: Any = nlp.get_pipe(name)
    component.update(examples_for(nlp))
    assert component._origin is not None
    for other in (copy.deepcopy(component), pickle.loads(pickle.dumps(component))):
        assert other._origin is None
        other.update(examples_for(nlp))
