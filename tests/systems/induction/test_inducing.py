"""Components that find their own features: chain, classifier and semi-Markov segmenter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language

from helpers import (
    TEXTS,
    add_classifier,
    add_segmenter,
    annotations,
    blank,
    sample_examples,
    train,
    weights,
)
from sample_pipelines import tagged_examples
from spacy_cascade.errors import ConfigError, TrainingError
from spacy_cascade.pipeline.initializing import units_of

TRAINER = {"@misc": "spacy_cascade.LBFGS.v1", "iterations": 5, "threads": 1}
INDUCTION: dict[str, Any] = {
    "@misc": "spacy_cascade.Induction.v1", "rounds": 3, "features": 25, "min_count": 2,
    "trainer": TRAINER,
}  # fmt: skip
INDUCED: dict[str, Any] = {
    "model": {"min_count": 2}, "trainer": INDUCTION
}  # fmt: skip
SEMI_MARKOV: dict[str, Any] = {
    **INDUCED,
    "model": {
        "@architectures": "spacy_cascade.SemiMarkov.v1", "min_count": 2,
        "templates": {"@misc": "spacy_cascade.SegmentationTemplates.v1"},
        "segments": {"@misc": "spacy_cascade.SegmentTemplates.v1"},
    },
}  # fmt: skip
PIPES = ("cascade_segmenter", "cascade_classifier")


def trained(segmenter: dict[str, Any] = INDUCED, updates: int = 2, **changes: Any) -> Language:
    nlp = blank()
    add_segmenter(nlp, **{**segmenter, **changes})
    add_classifier(nlp, **INDUCED)
    train(nlp, sample_examples(nlp, n_docs=8), updates=updates)
    return nlp


@pytest.fixture(scope="module")
def induced() -> Language:
    return trained()


@pytest.mark.parametrize("name", PIPES)
def test_all_features_are_induced_ones_and_few(induced, name):
    """The segmenter has them where their templates say.

    Also a conjunction of which a part, itself a conjunction, has not been induced.
    """
    pipe = induced.get_pipe(name)
    assert 0 < len(pipe.space) < 0.2 * len(pipe.before_induction.space)
    assert any(" & " in template for template in pipe.space.templates.templates)
    if name == "cascade_segmenter":
        examples = sample_examples(induced, n_docs=8)
        active = pipe.space.design(units_of(pipe, examples)).active_features()
        assert (np.bincount(active.indices, minlength=len(pipe.space)) >= 2).all()


def test_training_goes_on_and_initialize_begins_with_the_templates_of_the_config():
    nlp = blank()
    pipe = add_segmenter(nlp, **INDUCED)
    examples, block = sample_examples(nlp, n_docs=4), nlp.get_pipe_config(pipe.name)
    losses = [each["cascade_segmenter"] for each in train(nlp, examples, updates=3)]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0]
    first = pipe.space
    assert nlp.get_pipe_config(pipe.name) != block
    nlp.initialize(lambda: examples)
    assert nlp.get_pipe_config(pipe.name) == block
    assert pipe.before_induction is None
    nlp.update(examples)
    np.testing.assert_array_equal(pipe.space.index.keys, first.index.keys)


def test_the_saved_pipeline_is_an_ordinary_one(induced, tmp_path):
    induced.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert annotations(loaded, TEXTS) == annotations(induced, TEXTS)
    for name in PIPES:
        block = loaded.get_pipe_config(name)
        assert block["trainer"]["@misc"] == "spacy_cascade.LBFGS.v1"
        stated = block["model"]["templates"]
        assert stated["@misc"] == "spacy_cascade.Templates.v1"
        assert stated["templates"] == list(induced.get_pipe(name).space.templates.templates)


def test_the_saved_config_trains_with_all_features_of_the_induced_templates(induced):
    frozen = spacy.util.load_model_from_config(induced.config, auto_fill=True)
    train(frozen, sample_examples(frozen, n_docs=8), updates=0)
    for name in PIPES:
        own, before = frozen.get_pipe(name).space, induced.get_pipe(name).space
        assert set(before.index.keys) <= set(own.index.keys)
        assert len(own) > len(before)


def test_the_same_again_and_on_more_threads(induced):
    again = trained(trainer={**INDUCTION, "trainer": {**TRAINER, "threads": 3}})
    for name in PIPES:
        one, two = induced.get_pipe(name), again.get_pipe(name)
        np.testing.assert_array_equal(one.space.index.keys, two.space.index.keys)
        for a, b in zip(weights(one), weights(two), strict=True):
            np.testing.assert_array_equal(a, b)


def test_segments_keep_all_of_their_features():
    nlp = blank()
    pipe = add_segmenter(nlp, **SEMI_MARKOV)
    examples = sample_examples(nlp, n_docs=3)
    nlp.initialize(lambda: examples)
    _, segments = pipe.space.encode(units_of(pipe, examples))
    of_segments = pipe.space.index.keys[np.unique(segments.features.indices)]
    before = nlp.update(examples)["cascade_segmenter"]
    assert set(of_segments) <= set(pipe.space.index.keys)
    assert len(pipe.space) > len(of_segments)
    assert nlp.update(examples)["cascade_segmenter"] < before
    assert any(doc.spans["cascade"] for doc in nlp.pipe(e.reference.text for e in examples))


def test_a_markov_model_and_a_tagger_induce_features_too():
    nlp = blank()
    templates = {"@misc": "spacy_cascade.SegmentationTemplates.v1"}
    model = {"@architectures": "spacy_cascade.MaximumEntropyMarkov.v1", "templates": templates}
    quick = {**INDUCED, "trainer": {**INDUCTION, "rounds": 1}}
    add_segmenter(nlp, **{**quick, "model": {**model, "min_count": 2}})
    settings = {
        "loss": {"@misc": "spacy_cascade.Likelihood.v2"},
        "penalty": {"@misc": "spacy_cascade.Gaussian.v1"},
    }
    nlp.add_pipe("cascade_tagger", config={**quick, **settings})
    examples = tagged_examples(nlp)[:5]
    nlp.initialize(lambda: examples)
    first, second = ([*nlp.update(examples).values()] for _ in range(2))
    assert all(later < earlier for earlier, later in zip(first, second, strict=True))
    for _, pipe in nlp.pipeline:
        assert 0 < len(pipe.space) < 0.5 * len(pipe.before_induction.space)


def test_a_component_that_stands_in_no_pipeline_induces_features():
    nlp = blank()
    quick = {**INDUCTION, "rounds": 1}
    pipe: Any = nlp.create_pipe("cascade_segmenter", config={**INDUCED, "trainer": quick})
    examples = sample_examples(nlp, n_docs=3)
    pipe.initialize(lambda: examples, nlp=nlp)
    pipe.update(examples)
    assert pipe.before_induction.block is None
    assert 0 < len(pipe.space) < len(pipe.before_induction.space)


def test_adaptation_induces_nothing(induced, tmp_path):
    induced.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    examples = sample_examples(loaded, "dev", n_docs=3)
    loaded.update(examples)
    pipe = loaded.get_pipe("cascade_segmenter")
    assert pipe.before_induction is None
    assert len(pipe.space) > len(induced.get_pipe("cascade_segmenter").space)


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"min_count": 10_000}, TrainingError, "no feature"),
        ({"trainer": {"iterations": 3}}, ConfigError, "must be LBFGS, not"),
    ],
)
def test_what_cannot_be_induced(changes, error, said):
    with pytest.raises(error, match=said):
        trained(trainer={**INDUCTION, **changes})
