"""What is asked of an encoder in training: its vectors, and a gradient for those that learn."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model

from helpers import blank, make_doc
from spacy_cascade import ConfigError, MissingStageError
from spacy_cascade.features.tokens import read_tokens
from spacy_cascade.pipeline.encoder import (
    learning_tokens,
    set_dropout,
    slopes_of,
    train_encoder,
    with_vectors,
)

VOCAB = blank().vocab
DOCS = [make_doc(VOCAB, text) for text in ("a b", "", "c d e")]


class Listening(Model[Any, Any]):
    """Like spaCy's: it has a batch where the component that it listens to is trained."""

    upstream_name = "shared"
    _batch_id: int | None = None


def component(kind: type[Model[Any, Any]], is_trained: bool, name: str = "encoder") -> Any:
    """One whose encoder gives as many rows as a Doc has tokens; `passed` is what comes back."""
    passed: list[np.ndarray] = []

    def forward(model: Model[Any, Any], docs: list[Doc], is_train: bool) -> Any:
        return [np.full((len(doc), 2), float(i)) for i, doc in enumerate(docs)], passed.extend

    encoder = kind(name, forward, dims={"nO": 2})
    model = Model[Any, Any]("linear", forward, layers=[encoder], refs={"tok2vec": encoder})
    trainer = SimpleNamespace(trains_encoders=is_trained)
    return SimpleNamespace(
        name="it", model=model, trainer=trainer, encoder=encoder, passed=passed, _backprop="earlier"
    )


def learnt(pipe: Any) -> Any:
    examples = [Example(doc, doc) for doc in DOCS]
    return learning_tokens(pipe, read_tokens(DOCS, ()), examples).vectors


@pytest.mark.parametrize(
    ("kind", "batch", "is_trained", "learns"),
    [
        (Model, None, True, True),
        (Model, None, False, False),
        (Listening, 7, True, True),
        (Listening, None, True, True),
        (Listening, None, False, False),
    ],
)
def test_the_gradient_of_each_doc_goes_to_encoders_that_learn(
    kind: Any, batch: int | None, is_trained: bool, learns: bool
) -> None:
    pipe = component(kind, is_trained)
    if batch is not None:
        pipe.encoder._batch_id = batch
    vectors = learnt(pipe)
    assert vectors.tolist() == [[0.0, 0.0]] * 2 + [[2.0, 2.0]] * 3
    assert vectors.dtype == np.float32
    if not learns:
        assert pipe._backprop is None
        return
    slopes = np.arange(10.0).reshape(5, 2)
    pipe._backprop(slopes)
    assert [part.tolist() for part in pipe.passed] == [
        slopes[:2].tolist(), [], slopes[2:].tolist(),
    ]  # fmt: skip
    assert {part.dtype for part in pipe.passed} == {np.dtype(np.float32)}


def test_a_trainer_that_passes_nothing_on_cannot_learn_beside_the_encoder() -> None:
    pipe = component(Listening, is_trained=False)
    pipe.encoder._batch_id = 7
    with pytest.raises(ConfigError, match=r"'it' listens to the component 'shared'.*\.it\.trainer"):
        learnt(pipe)
    assert pipe._backprop is None


def test_listeners_of_tensors_miss_them() -> None:
    """Docs without tokens need none."""
    pipe = component(Listening, True, "tok2vec-listener")
    with pytest.raises(MissingStageError, match=r"'it' listens to the component 'shared'"):
        learnt(pipe)
    with pytest.raises(MissingStageError):
        with_vectors(pipe, read_tokens(DOCS, ()), DOCS)
    empty = [DOCS[1]]
    assert with_vectors(pipe, read_tokens(empty, ()), empty).vectors.shape == (0, 2)
    assert with_vectors(pipe, read_tokens([], ()), []).vectors.dtype == np.float32


def test_without_an_encoder_there_are_no_vectors() -> None:
    pipe = component(Model, is_trained=True)
    pipe.model.set_ref("tok2vec", None)
    assert learnt(pipe) is None
    assert pipe._backprop is None
    assert slopes_of([]) is None
    set_dropout(pipe, 0.5)
    train_encoder(pipe, lambda *_: None)  # type: ignore[arg-type]
