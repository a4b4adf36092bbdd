"""What pipelines do with any component: errors, processes, copies, names, other components."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import raise_error

from every_component import (
    CLASSIFIER,
    LEARNERS,
    NAMES,
    SEGMENTER,
    all_found,
    examples_for,
    pipeline_with,
    trained,
)
from helpers import TEXTS, blank, make_doc, weights

PIPELINES: dict[str, Language] = {}


def known(name: str) -> Language:
    """A trained pipeline; only for annotation."""
    if name not in PIPELINES:
        PIPELINES[name] = trained(name)
    return PIPELINES[name]


# Docs without words


@pytest.mark.parametrize("name", LEARNERS)
def test_training_with_docs_without_words(name: str) -> None:
    nlp = pipeline_with(name)
    empty = Example(Doc(nlp.vocab), Doc(nlp.vocab))
    examples = [empty, *examples_for(nlp), empty]
    nlp.initialize(lambda: examples)
    nlp.update([empty])
    for _ in range(3):
        nlp.update(examples)
    assert all_found(nlp, name) == all_found(known(name), name)
    assert nlp.evaluate([empty])["speed"] is not None


# Errors


@pytest.mark.parametrize("name", NAMES)
def test_an_error_handler_goes_on_with_other_docs(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nlp = known(name)
    component: Any = nlp.get_pipe(name)
    predict = component.predict
    failed: list[tuple[str, int]] = []

    def some_fail(docs: Iterable[Doc]) -> Any:
        docs = list(docs)
        if any("STAT5" in doc.text for doc in docs):
            raise ValueError("broken")
        return predict(docs)

    def note(name: str, _: Any, docs: list[Doc], error: Exception) -> None:
        failed.append((name, len(docs)))

    monkeypatch.setattr(component, "predict", some_fail)
    component.set_error_handler(note)
    try:
        docs = list(nlp.pipe(TEXTS, batch_size=1))
    finally:
        component.set_error_handler(raise_error)
    n_broken = sum("STAT5" in text for text in TEXTS)
    assert failed == [(name, 1)] * n_broken
    assert len(docs) == len(TEXTS) - n_broken


@pytest.mark.parametrize("name", LEARNERS)
def test_examples_are_needed(name: str) -> None:
    nlp = known(name)
    with pytest.raises(TypeError, match="E978"):
        nlp.get_pipe(name).update([nlp.make_doc("p53")])


@pytest.mark.parametrize("name", LEARNERS)
def test_losses_are_added_up(name: str) -> None:
    nlp, twin = trained(name, updates=1), trained(name, updates=1)
    alone = twin.update(examples_for(twin))[name]
    assert nlp.update(examples_for(nlp), losses={name: 5.0})[name] == pytest.approx(5.0 + alone)
    assert nlp.update([], losses={name: 2.0})[name] == 2.0


# Several pipelines


@pytest.mark.parametrize("name", LEARNERS)
def test_a_sourced_component(name: str) -> None:
    nlp, source = blank(), known(name)
    for each in source.pipe_names:
        nlp.add_pipe(each, source=source)
    assert all_found(nlp, name) == all_found(source, name)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_renamed_component(name: str, tmp_path: Path) -> None:
    nlp = trained(name)
    before = all_found(nlp, name)
    nlp.rename_pipe(name, "other")
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert all_found(loaded, name) == all_found(nlp, name) == before
    assert loaded.pipe_names[-1] == "other"


@pytest.mark.parametrize("name", LEARNERS)
def test_rehearsal_leaves_it_as_it_is(name: str) -> None:
    nlp = trained(name)
    before = nlp.get_pipe(name).to_bytes()
    nlp.rehearse(examples_for(nlp))
    assert nlp.get_pipe(name).to_bytes() == before


@pytest.mark.parametrize("name", LEARNERS)
def test_frozen_and_annotating(name: str) -> None:
    nlp = trained(name)
    before = nlp.get_pipe(name).to_bytes()
    nlp.update(examples_for(nlp), exclude=nlp.pipe_names, annotates=nlp.pipe_names)
    assert nlp.get_pipe(name).to_bytes() == before


# Gold that fits only in part


@pytest.mark.parametrize("name", [SEGMENTER, CLASSIFIER])
def test_an_entity_that_tokens_cannot_express_is_open(name: str) -> None:
    """Neither an entity nor something that is none."""
    nlp, words = known(name), ["The", "IL-2", "genes", "are", "here"]
    predicted = Doc(
        nlp.vocab,
        ["The", "IL-2", "gene", "s", "are", "here"],
        [True, True, False, True, True, False],
    )
    reference = Doc(nlp.vocab, words, ents=["O", "B-DNA", "I-DNA", "O", "O"])
    coarse = Doc(nlp.vocab, ["The", "IL-2", "genes are", "here"])
    component: Any = nlp.get_pipe(name)
    fine_gold = component.gold.read(Example(predicted, reference))
    coarse_gold = component.gold.read(Example(coarse, reference))
    assert fine_gold.spans == [(1, 4, "DNA")]
    assert coarse_gold.spans == []
    assert coarse_gold.observed.tolist() == [True, False, False, True]


@pytest.mark.parametrize("name", [SEGMENTER, CLASSIFIER])
def test_missing_annotation_teaches_nothing(name: str) -> None:
    """Weights are the same with a sentence of known words of which nothing is known."""
    made = []
    for is_there in (False, True):
        nlp = pipeline_with(name)
        examples = examples_for(nlp)
        nlp.initialize(lambda examples=examples: examples)
        unknown = Example(make_doc(nlp.vocab, TEXTS[1]), make_doc(nlp.vocab, TEXTS[1]))
        for _ in range(2):
            nlp.update([*examples, unknown] if is_there else examples)
        made.append(weights(nlp.get_pipe(name)))
    for one, other in zip(*made, strict=True):
        np.testing.assert_allclose(one, other, atol=2e-3)


def test_nothing_is_logged_while_annotating(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        list(known(CLASSIFIER).pipe(TEXTS))
    assert caplog.records == []
