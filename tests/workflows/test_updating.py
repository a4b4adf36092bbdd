"""Updates on a whole corpus: batches, steps, and the encoders that learners listen to."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from spacy.language import Language

from helpers import add_classifier, add_segmenter, blank, make_examples
from spacy_cascade.scorers.linear import encoder_of
from spacy_cascade.workflows.updating import learners, update, upstream

BY_GRADIENT = {"trainer": {"@misc": "spacy_cascade.Minibatch.v1"}}
ENCODER = {
    "@architectures": "spacy.HashEmbedCNN.v2", "width": 8, "depth": 1, "embed_size": 50,
    "window_size": 1, "maxout_pieces": 2, "subword_features": True, "pretrained_vectors": None,
}  # fmt: skip
SEGMENTER = "cascade_segmenter"


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many examples each call of `nlp.update` is given; nothing is learnt."""
    made: list[int] = []

    def noted(nlp: Language, examples: list[Any], **how: Any) -> None:
        assert how == {"exclude": ["other"], "annotates": [SEGMENTER]}
        made.append(len(examples))

    monkeypatch.setattr(Language, "update", noted)
    return made


def pipeline(segmenter: dict[str, Any], classifier: dict[str, Any]) -> Language:
    nlp = blank()
    add_segmenter(nlp, **segmenter)
    add_classifier(nlp, **classifier)
    return nlp


@pytest.mark.parametrize(
    ("n", "expected"),
    [(1, 20 * [1]), (16, 20 * [16]), (40, 7 * [16, 16, 8]), (400, 25 * [16])],
)
@pytest.mark.parametrize("settings", [(BY_GRADIENT, {}), ({}, BY_GRADIENT)])
def test_a_trainer_by_gradient_makes_some_steps_by_batches(
    sizes: list[int], n: int, expected: list[int], settings: Any
) -> None:
    """Twenty at least."""
    nlp = pipeline(*settings)
    update(nlp, make_examples(nlp)[:1] * n, ["other"], [SEGMENTER])
    assert sizes == expected


def test_other_trainers_see_all_examples_once(sizes: list[int]) -> None:
    nlp = pipeline({}, {})
    update(nlp, make_examples(nlp), ["other"], [SEGMENTER])
    assert sizes == [len(make_examples(nlp))]


def test_who_is_excluded_does_not_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    nlp, calls = pipeline(BY_GRADIENT, {}), []
    monkeypatch.setattr(Language, "update", lambda *_, **how: calls.append(how["exclude"]))
    update(nlp, make_examples(nlp), [SEGMENTER], [])
    assert calls == [[SEGMENTER]]


@pytest.mark.parametrize("tok2vec", [None, ENCODER])
def test_an_encoder_that_is_kept_has_no_gradient_left(tok2vec: Any) -> None:
    """There may be none."""
    nlp = blank()
    segmenter = add_segmenter(nlp, **BY_GRADIENT, model={"min_count": 1, "tok2vec": tok2vec})
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    encoder = encoder_of(segmenter.model)
    before = encoder.to_bytes() if encoder else b""
    update(nlp, examples, [], [], keeps_encoders=True)
    segmenter.sync_weights()
    assert np.any(segmenter.weights.features)
    assert (encoder is None) == (tok2vec is None)
    if encoder:
        assert encoder.to_bytes() == before
        grads = [node.get_grad(name) for node in encoder.walk() for name in node.grad_names]
        assert len(grads) > 2
        assert not any(grad.any() for grad in grads)


def test_listeners_of_what_is_excluded_forget_what_they_had() -> None:
    told: dict[str, list[Any]] = {"one": [], "other": []}
    pipes = [
        (name, SimpleNamespace(listeners=[SimpleNamespace(receive=lambda *n, it=it: it.append(n))]))
        for name, it in told.items()
    ]
    nlp: Any = SimpleNamespace(pipeline=[*pipes, ("plain", object())], update=lambda *_, **__: None)
    update(nlp, [], ["other", "plain"], [])
    assert told == {"one": [], "other": [(None, None, None)]}


def test_encoders_are_known_by_who_listens() -> None:
    """One may be of learners alone, of others, of both, or of nobody."""
    learner = pipeline({}, {}).get_pipe(SEGMENTER)
    heard = {
        "own": {"cut": [1]}, "shared": {"cut": [1], "tagger": [1]}, "theirs": {"tagger": [1]},
        "nobody": {},
    }  # fmt: skip
    pipes = {name: SimpleNamespace(listener_map=those) for name, those in heard.items()}
    nlp: Any = SimpleNamespace(pipeline=[*pipes.items(), ("cut", learner), ("tagger", object())])
    assert upstream(nlp) == (["own"], ["shared"])
    assert learners(nlp) == [("cut", learner)]
