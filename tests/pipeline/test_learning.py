"""What training begins with: corpora and parts of them, readers, origins of an adaptation."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from helpers import add_classifier, add_segmenter, blank, make_doc, make_example, make_examples
from spacy_cascade import ConfigError, TrainingError
from spacy_cascade.features.tokens import read_tokens
from spacy_cascade.inference.structure import Weights
from spacy_cascade.pipeline import segmenter as segmenters
from spacy_cascade.pipeline.component import Origin
from spacy_cascade.pipeline.examples import words_of
from spacy_cascade.pipeline.initializing import _tokens_of_shard, begin_anew
from spacy_cascade.pipeline.learning import (
    ExampleSource,
    begin_again,
    parts_of,
    reads_corpus,
    restore_training,
    training_state,
)
from spacy_cascade.pipeline.reading import _warn_of_documents
from spacy_cascade.pipeline.segmenter import choosers, least_needed

ONLINE = {
    "loss": {"@misc": "spacy_cascade.Hinge.v2"},
    "penalty": None,
    "trainer": {"@misc": "spacy_cascade.PassiveAggressive.v1"},
}


def begun(**settings: Any) -> tuple[Any, list[Any]]:
    """A segmenter after one update, and its examples."""
    nlp = blank()
    segmenter = add_segmenter(nlp, **settings)
    examples = make_examples(nlp)[:3]
    nlp.initialize(lambda: examples)
    segmenter.update(examples)
    return segmenter, examples


def test_a_state_is_of_one_training() -> None:
    segmenter, examples = begun()
    state = training_state(segmenter)
    weights = segmenter.model.get_param("W").copy()
    segmenter.update(examples)
    assert not np.array_equal(segmenter.model.get_param("W"), weights)
    restore_training(segmenter, state)
    np.testing.assert_array_equal(segmenter.model.get_param("W"), weights)
    with pytest.raises(TrainingError, match="examples of 'cascade_segmenter' were annotated other"):
        restore_training(segmenter, {**state, "annotation": state["annotation"] + 1})
    segmenter.reset_fit()
    assert training_state(segmenter) == {}
    restore_training(segmenter, {})
    with pytest.raises(ValueError, match="'cascade_segmenter', whose training has not begun"):
        restore_training(segmenter, state)


@pytest.mark.parametrize("is_other", [True, False])
def test_other_examples_are_another_adaptation(is_other: bool) -> None:
    segmenter, examples = begun()
    segmenter._origin, segmenter.warm_start = "earlier", True
    source = ExampleSource(segmenter, examples, is_other)
    assert segmenter._origin == (None if is_other else "earlier")
    assert source.is_new is False
    segmenter.warm_start = False
    assert source.is_new is is_other
    other = source.beside(segmenter)
    assert (source.partners, other.partners, other.examples) == ([segmenter], [], examples)
    fit: Any = object()
    other.join(fit)
    assert segmenter._fit is fit


@pytest.mark.parametrize("warm_start", [True, False])
def test_an_online_adaptation_knows_the_curvature(
    warm_start: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    segmenter, examples = begun(**ONLINE)
    segmenter.sync_weights()
    diagonal = np.full(segmenter.model.get_param("W").shape, 9, dtype=np.uint8)
    segmenter.model.attrs["hessian_diagonal"] = diagonal
    segmenter.reset_fit()
    segmenter.warm_start = warm_start
    kind, begin, tasks = type(segmenter.trainer), type(segmenter.trainer).begin, list[Any]()

    def noting(trainer: Any, task: Any) -> Any:
        tasks.append(task)
        return begin(trainer, task)

    monkeypatch.setattr(kind, "begin", noting)
    segmenter.update(examples)
    (task,) = tasks
    assert (task.known is not None) == warm_start
    assert task.data.share == 1.0


def test_training_begins_again_with_other_annotation() -> None:
    segmenter, examples = begun()
    fit, before = segmenter._fit, training_state(segmenter)["annotation"]
    examples[0].reference.ents = []
    begin_again(segmenter, examples)
    assert segmenter._fit is not fit
    assert training_state(segmenter)["annotation"] != before


def test_examples_are_cut_into_parts_of_so_many_tokens() -> None:
    nlp = blank()
    examples = [make_example(nlp, text, []) for text in ("a b", "c", "", "d e f", "g")]
    for n, sizes in ((1, [1, 1, 2, 1]), (2, [1, 3, 1]), (3, [2, 2, 1]), (99, [5])):
        assert [len(part) for part in parts_of(examples, n)] == sizes
    assert list(parts_of([], 3)) == []


@pytest.mark.parametrize(
    ("read", "warm_start", "takes", "expected"),
    [(list, False, True, True), (None, False, True, False), (list, True, True, False),
     (list, False, False, False)],
)  # fmt: skip
def test_who_learns_from_a_reader(read: Any, warm_start: bool, takes: bool, expected: bool) -> None:
    reader, trainer = SimpleNamespace(read=read), SimpleNamespace(reads_corpus=takes, tokens=7)
    pipe: Any = SimpleNamespace(_reader=reader, warm_start=warm_start, trainer=trainer)
    assert reads_corpus(pipe) is expected
    for has_encoder, rejects in ((False, False), (True, False), (False, True)):
        pipe.model, pipe.reject = SimpleNamespace(has_ref=lambda _, h=has_encoder: h), rejects
        keeps = read is not None and takes and not has_encoder and not rejects
        assert _tokens_of_shard(pipe) == (7 if keeps else None)


@pytest.mark.parametrize(
    ("settings", "has_reader", "n"), [({}, False, 2), ({}, True, 0), (ONLINE, False, 0)]
)
def test_words_that_repeat_are_counted_where_parts_are_collected(
    settings: dict[str, Any], has_reader: bool, n: int
) -> None:
    nlp = blank()
    segmenter = add_segmenter(nlp, **settings)
    examples = [*make_examples(nlp)[:2], make_examples(nlp)[0]]
    reader = (lambda _: examples) if has_reader else None
    segmenter.initialize(lambda: examples, nlp=nlp, corpus=reader)
    expected = {words_of(examples[0].reference): n} if n else {}
    assert segmenter._parts._repeated == expected


def test_a_new_training_forgets_what_was_decided() -> None:
    segmenter, _ = begun()
    segmenter.warm_start = True
    segmenter.model.attrs.update(sentences=True, tokenizer="some")
    begin_anew(segmenter)
    assert (segmenter.warm_start, segmenter._awaited, segmenter._reader.read) == (False, None, None)
    assert (segmenter.model.attrs["sentences"], segmenter.model.attrs["tokenizer"]) == (None, None)


@pytest.mark.parametrize("n_dense", [0, 1])
@pytest.mark.parametrize("has_steps", [True, False])
def test_an_origin_grows_with_its_model(n_dense: int, has_steps: bool) -> None:
    """A feature and a label are new; rows of vectors stay the last ones."""
    features = np.array([[1.0, 2.0], [3.0, 4.0]])
    steps = np.array([[5, 6], [7, 8]], dtype=np.uint8) if has_steps else None
    names: Any = (["A", "B"], ["A B", "B A"])
    origin = Origin(Weights(features, np.array([1.0, 2.0])), steps, names, {})
    after: Any = (["A", "N", "B"], ["A N", "A B", "B A"])
    grown = origin.grown(3, n_dense, after)
    expected = [[1, 0, 2], [0, 0, 0], [3, 0, 4]] if n_dense else [[1, 0, 2], [3, 0, 4], [0, 0, 0]]
    assert grown.weights.features.tolist() == expected
    assert grown.weights.transitions.tolist() == [0, 1, 2]
    assert grown.names == after
    if steps is None:
        assert grown.steps is None
        return
    rows = [[5, 0, 6], [0, 0, 0], [7, 0, 8]] if n_dense else [[5, 0, 6], [7, 0, 8], [0, 0, 0]]
    assert grown.steps is not None
    assert grown.steps.tolist() == rows


def test_all_components_of_a_pipeline_know_that_the_warning_was_given() -> None:
    other, plain = SimpleNamespace(_has_warned_of_documents=False), SimpleNamespace()
    pipeline = SimpleNamespace(pipeline=[("a", other), ("b", plain)])
    for has_pipeline in (True, False):
        pipe: Any = SimpleNamespace(name="it", _has_warned_of_documents=False)
        pipe.pipeline = pipeline if has_pipeline else None
        with pytest.warns(UserWarning, match="'it' was trained on sentences"):
            _warn_of_documents(pipe)
        assert pipe._has_warned_of_documents
        assert other._has_warned_of_documents
        assert not hasattr(plain, "_has_warned_of_documents")


def test_spans_across_sentences_are_left_open() -> None:
    segmenter, _ = begun()
    docs = [make_doc(segmenter.vocab, "a b c d", [0, 2]), make_doc(segmenter.vocab, "e")]
    ents = [[(0, 1, "ENT"), (1, 3, "ENT")], []]
    gold: Any = [
        SimpleNamespace(spans=of_doc, observed=np.ones(len(doc), dtype=np.bool_))
        for of_doc, doc in zip(ents, docs, strict=True)
    ]
    found, observed = segmenter.gold_in(read_tokens(docs, ()), gold)
    assert (found.start.tolist(), found.end.tolist()) == ([0], [1])
    assert observed.tolist() == [True, False, False, True, True]


def test_scorers_are_told_whether_entities_are_chosen_from_spans() -> None:
    nlp = blank()
    segmenter = add_segmenter(nlp)
    segmenter.scorer = lambda examples, **told: told
    assert segmenter.score([])["is_chosen_from"] is False
    classifier = add_classifier(nlp, threshold=0.5, label_thresholds={"A": 0.25})
    assert list(choosers(nlp, "cascade")) == [classifier]
    assert segmenter.score([])["is_chosen_from"] is True
    assert (least_needed(nlp, "cascade"), least_needed(nlp, "other")) == (0.25, 0.0)
    classifier.set_ents = False
    assert segmenter.score([])["is_chosen_from"] is False
    segmenter.set_ents = True
    assert segmenter.score([])["is_chosen_from"] is True


def test_joint_decoding_has_to_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    segmenter, _ = begun(joint_key="other")
    monkeypatch.setattr(segmenters, "offered", lambda _: None)
    with pytest.raises(ConfigError, match=r"has joint_key = 'other', and joint decoding is not"):
        segmenter.scored([make_doc(segmenter.vocab, "a")])


def test_no_warning_without_a_reason() -> None:
    segmenter, _ = begun()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        segmenter(make_doc(segmenter.vocab, "a b"))
