"""What components with a model have in common."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.pipeline import TrainablePipe

from helpers import (
    TEXTS,
    add_segmenter,
    annotations,
    blank,
    make_examples,
    weights,
)
from locking import waits_for_lock
from spacy_cascade import ModelFileError, TrainingError, save_pipeline
from spacy_cascade.pipeline.base import CascadePipe, is_learner
from spacy_cascade.pipeline.batches import unchanging
from spacy_cascade.pipeline.reading import earlier_space
from spacy_cascade.scorers import linear

COMPONENTS = ("cascade_segmenter", "cascade_classifier", "cascade_reranker", "cascade_tagger")


@pytest.mark.parametrize("factory", COMPONENTS)
def test_a_component_inherits_in_three_steps(factory: str) -> None:
    kind = type(blank().add_pipe(factory))
    assert kind.__mro__[:3] == (kind, CascadePipe, TrainablePipe)


def test_a_reranker_is_not_trained_by_a_trainer_of_the_config() -> None:
    made = {factory: blank().add_pipe(factory) for factory in COMPONENTS}
    learners = [factory for factory, pipe in made.items() if is_learner(pipe)]
    assert learners == ["cascade_segmenter", "cascade_classifier", "cascade_tagger"]


def begin(component: Any) -> None:
    with unchanging(component):
        pass


CALLS: dict[str, Callable[[Any], object]] = {
    "adding a label": lambda component: component.add_label("X"),
    "weights of a fit": lambda component: component.sync_weights(),
    "the beginning of a batch": begin,
}


@pytest.mark.parametrize("name", CALLS)
def test_a_component_waits_for_the_lock(name: str) -> None:
    component = blank().add_pipe("cascade_tagger")
    assert waits_for_lock(lambda: CALLS[name](component))


def test_spans_that_are_made_when_they_are_read_wait_for_the_lock(trained: Language) -> None:
    """Once: what has been made is there for all."""
    doc = trained(TEXTS[0])
    group = doc.spans["cascade"]
    assert waits_for_lock(lambda: list(group))
    assert not waits_for_lock(lambda: list(group))


def test_labels_that_change_meanwhile_are_told_with_what_they_caused() -> None:
    component: Any = SimpleNamespace(name="it", labels=("A",))
    message = "labels of 'it' changed"

    def change(error: Exception) -> None:
        with unchanging(component):
            component.labels = ("A", "B")
            raise error

    with pytest.raises(TrainingError, match=message) as told:
        change(IndexError())
    assert isinstance(told.value.__cause__, IndexError)
    with pytest.raises(TrainingError, match=message), unchanging(component):
        component.labels = ("A",)
    with pytest.raises(IndexError), unchanging(component):
        raise IndexError


def test_a_label_that_is_added_keeps_what_was_learnt_before() -> None:
    nlp = blank()
    online = {**DIVERGING, "loss": {"@misc": "spacy_cascade.Hinge.v2"}}
    online["trainer"] = {"@misc": "spacy_cascade.PassiveAggressive.v1"}
    tagger: Any = nlp.add_pipe("cascade_tagger", config={"model": {"min_count": 1}, **online})
    examples = make_examples(nlp)
    for example in examples:
        for token in example.reference:
            token.tag_ = token.text[0]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    assert tagger.add_label("X") == 1
    assert tagger.add_label("X") == 0
    assert weights(tagger)[0].any()


def test_weights_that_are_shown_are_kept_with_their_curvature() -> None:
    nlp = blank()
    segmenter: Any = add_segmenter(nlp)
    nlp.initialize(lambda: make_examples(nlp))
    shown = type(segmenter.weights)(*(values + 0.5 for values in segmenter.weights))
    diagonal = np.full(shown.features.shape, 7, dtype=np.uint8)
    for kept in (diagonal, None):
        segmenter.show(shown, kept)
        for values, expected in zip(weights(segmenter), shown, strict=True):
            np.testing.assert_allclose(values, expected, rtol=1e-3)
        np.testing.assert_array_equal(segmenter.model.attrs["hessian_diagonal"], kept)


DIVERGING = {
    "loss": {"@misc": "spacy_cascade.Hinge.v2", "kappa": 1e100},
    "penalty": None,
    "trainer": {"@misc": "spacy_cascade.PassiveAggressive.v1", "C": 1e300},
}


def test_the_last_finite_weights_stay() -> None:
    nlp = blank()
    segmenter = add_segmenter(nlp, **DIVERGING)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    with pytest.raises(TrainingError, match=r"'cascade_segmenter' has diverged.*\[trainer\]"):
        segmenter.sync_weights()
    assert all(np.isfinite(values).all() for values in weights(segmenter))
    segmenter.to_bytes()


def test_not_enough_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> NoReturn:
        raise MemoryError

    monkeypatch.setattr(linear, "set_weights", fail)
    nlp = blank()
    add_segmenter(nlp)
    with pytest.raises(
        TrainingError, match=r"not enough memory for 'cascade_segmenter'.*min_count"
    ):
        nlp.initialize(lambda: make_examples(nlp))


def test_a_pipeline_is_saved_over_another_one(trained: Language, tmp_path: Path) -> None:
    (tmp_path / "README").write_text("mine")
    save_pipeline(blank(), tmp_path)
    save_pipeline(trained, tmp_path)
    assert annotations(spacy.load(tmp_path)) == annotations(trained)
    assert (tmp_path / "README").read_text() == "mine"


def test_a_pipeline_that_cannot_be_saved_leaves_the_old_one(tmp_path: Path) -> None:
    save_pipeline(blank(), tmp_path / "model")
    nlp = blank()
    segmenter: Any = add_segmenter(nlp)
    segmenter.label_thresholds = {f"type {number}": 0.5 for number in range(9000)}
    with pytest.raises(ModelFileError, match=r"Cannot save the model.*settings take 9,\d+ values"):
        save_pipeline(nlp, tmp_path / "model")
    assert spacy.load(tmp_path / "model").pipe_names == []
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_the_nearest_component_before_has_met_the_words() -> None:
    nlp = blank()
    nlp.add_pipe("cascade_segmenter")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("cascade_classifier")
    segmenter, classifier = (
        nlp.get_pipe(f"cascade_{name}") for name in ("segmenter", "classifier")
    )
    assert earlier_space(nlp, segmenter) is None
    assert earlier_space(nlp, classifier) is segmenter.space
    with nlp.select_pipes(disable="cascade_segmenter"):
        assert earlier_space(nlp, classifier) is None
    assert earlier_space(None, classifier) is None


def test_a_copy_of_a_space_has_no_other_one() -> None:
    nlp = blank()
    spaces = [nlp.add_pipe(f"cascade_{name}").space for name in ("segmenter", "classifier")]
    spaces[1].earlier = spaces[0]
    assert pickle.loads(pickle.dumps(spaces[1])).earlier is None
