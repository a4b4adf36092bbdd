"""Online training through the components: minibatches, seeds, going on from loaded weights."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language

from helpers import (
    TEXTS,
    add_segmenter,
    annotations,
    blank,
    cascade,
    make_example,
    make_examples,
    weights,
)
from spacy_cascade import ConfigError

NAMES = ["cascade_segmenter", "cascade_classifier"]
ONLINE: dict[str, Any] = {
    "model": {"min_count": 1},
    "loss": {"@misc": "spacy_cascade.Hinge.v2"},
    "penalty": None,
    "trainer": {"@misc": "spacy_cascade.PassiveAggressive.v1", "C": 0.1},
}

MINIBATCH = {
    "loss": {"@misc": "spacy_cascade.Likelihood.v2"},
    "trainer": {"@misc": "spacy_cascade.Minibatch.v1"},
}


def online(**more: Any) -> Language:
    settings = {**ONLINE, **more}
    return cascade(settings, settings)


def train_in_batches(nlp: Language, epochs: int = 8, size: int = 2) -> list[float]:
    """Losses of each epoch."""
    examples = make_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    losses = []
    for _ in range(epochs):
        total: dict[str, float] = {}
        for begin in range(0, len(examples), size):
            nlp.update(examples[begin : begin + size], sgd=optimizer, losses=total)
        losses.append(sum(total.values()))
    return losses


@pytest.mark.parametrize("penalty", [None, {"@misc": "spacy_cascade.Gaussian.v1"}])
def test_what_new_examples_teach_adds_up(penalty: dict[str, str] | None) -> None:
    """Whether or not weights are looked at between updates."""
    settings = {**MINIBATCH, "penalty": penalty}
    nlp = online(**settings)
    train_in_batches(nlp, epochs=1)
    found = []
    for is_read in (False, True):
        adapted = online(**settings).from_bytes(nlp.to_bytes())
        pipe: Any = adapted.get_pipe(NAMES[0])
        for text in ("Fungi grow", "Algae float", "Mice run"):
            pipe.update([make_example(adapted, text, [(0, 1, "cell")])])
            if is_read:
                pipe.sync_weights()
        pipe.sync_weights()
        found.append(weights(pipe)[0])
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("size", [1, 4])
def test_batches_of_any_size_teach_a_few_sentences_by_heart(size: int) -> None:
    nlp = online()
    losses = train_in_batches(nlp, size=size)
    assert losses[-1] < 0.1 * losses[0]
    scores = nlp.evaluate(make_examples(nlp))
    assert scores["ents_f"] == scores["segments_f"] == 1.0


def test_same_seed_same_bytes() -> None:
    first, second, other = (
        online(trainer={**ONLINE["trainer"], "seed": seed}) for seed in (1, 1, 2)
    )
    for nlp in (first, second, other):
        train_in_batches(nlp, epochs=2, size=6)
    for name in NAMES:
        saved = [nlp.get_pipe(name).to_bytes() for nlp in (first, second, other)]
        assert saved[0] == saved[1]
        assert saved[0] != saved[2]


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda pipe: pickle.loads(pickle.dumps(pipe))]
)
def test_copies_have_what_was_learnt_last(duplicate: Any) -> None:
    nlp = online()
    train_in_batches(nlp, epochs=3)
    component = nlp.get_pipe("cascade_segmenter")
    assert component._fit.weights_are_stale
    twin = duplicate(component)
    assert twin.to_bytes() == component.to_bytes()


def test_a_loaded_pipeline_learns_on(tmp_path: Path) -> None:
    nlp = online()
    train_in_batches(nlp)
    nlp.to_disk(tmp_path / "model")
    loaded = spacy.load(tmp_path / "model")
    before = [np.array(w) for w in weights(loaded.get_pipe("cascade_segmenter"))]
    known = make_examples(loaded)
    losses: dict[str, float] = {}
    for _ in range(3):
        loaded.update(known, sgd=loaded.resume_training(), losses=losses)
    assert loaded.evaluate(known)["ents_f"] == 1.0
    # Words that it has features for, used in a way that it gets wrong.
    new = [make_example(loaded, "STAT5 express cells .", [(0, 3, "protein")])]
    assert loaded.evaluate(new)["ents_f"] != 1.0
    for _ in range(10):
        loaded.update(new)
    assert loaded.evaluate(new)["ents_f"] == 1.0
    after = weights(loaded.get_pipe("cascade_segmenter"))
    known_before, known_after = before[0], after[0][: len(before[0])]
    assert (known_before != known_after).any()
    assert len(after[0]) > len(before[0])  # new words have features of their own


def test_where_margins_hold_an_update_changes_nothing() -> None:
    nlp = online(trainer={**ONLINE["trainer"], "average": False})
    train_in_batches(nlp, epochs=30)
    component = nlp.get_pipe("cascade_segmenter")
    annotated = annotations(nlp)
    before = [array.copy() for array in weights(component)]
    losses: dict[str, float] = {}
    nlp.update(make_examples(nlp)[:1], losses=losses)
    assert losses["cascade_segmenter"] == pytest.approx(0.0, abs=1e-9)
    assert annotations(nlp) == annotated
    for now, then in zip(weights(component), before, strict=True):
        np.testing.assert_allclose(now, then, atol=1e-9)


def test_tokens_without_annotation_are_free() -> None:
    nlp = blank()
    add_segmenter(nlp, **ONLINE)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    doc = nlp.make_doc(TEXTS[0])
    unknown = spacy.training.Example(doc, doc.copy())
    losses: dict[str, float] = {}
    nlp.update([unknown], losses=losses)
    assert losses["cascade_segmenter"] == 0.0
    assert not weights(nlp.get_pipe("cascade_segmenter"))[0].any()


def test_a_trainer_that_does_not_go_with_loss_or_penalty_fails_early() -> None:
    with pytest.raises(ConfigError, match="Hinge"):
        add_segmenter(blank(), trainer=ONLINE["trainer"])
    with pytest.raises(ConfigError, match="SoftmaxMargin"):
        add_segmenter(blank(), loss=ONLINE["loss"])
    with pytest.raises(ConfigError, match=r"PassiveAggressive takes no penalty.*penalty = null"):
        add_segmenter(blank(), loss=ONLINE["loss"], trainer=ONLINE["trainer"])
    with pytest.raises(ConfigError, match="LBFGS needs a penalty"):
        add_segmenter(blank(), penalty=None)
