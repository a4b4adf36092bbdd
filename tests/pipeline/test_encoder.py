"""What is asked of an encoder in training: its vectors, and a gradient for those that learn."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Dropout, Model

from helpers import blank, make_doc
from spacy_cascade import ConfigError, MissingStageError, TrainingError
from spacy_cascade.features.tokens import read_tokens
from spacy_cascade.numeric.dense import DenseRows
from spacy_cascade.pipeline.encoder import (
    initialize_encoder,
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


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            np.zeros((2, 2)),
            r"'it' gave an array \(2, 2\) for a Doc of 1 tok.*\(1, 2\) is needed",
        ),
        (np.zeros((1, 3)), r"an array \(1, 3\)"),
        (np.array([[1.0, np.nan]]), "'it' gave vectors that are no finite numbers"),
    ],
)
def test_what_are_no_vectors_of_the_tokens(rows: np.ndarray, message: str) -> None:
    encoder = Model[Any, Any]("other", lambda *_, **how: ([rows], list), dims={"nO": 2})
    pipe = component(Model, is_trained=True)
    pipe.model.set_ref("tok2vec", None)
    pipe.model.layers[0] = encoder
    pipe.model.set_ref("tok2vec", encoder)
    doc = make_doc(VOCAB, "a")
    with pytest.raises(TrainingError, match=message):
        with_vectors(pipe, read_tokens([doc], ()), [doc])


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (None, 1, None),
        (1, 1, None),
        (0, 0, "'it' must have 1 number or more, not 0"),
        (None, -1, "'it' must have 1 number or more, not -1"),
        (None, None, "'it' does not say how wide its vectors are"),
    ],
)
def test_an_encoder_finds_out_its_width(
    before: int | None, after: int | None, message: str | None
) -> None:
    shown: list[Any] = []

    def init(model: Model[Any, Any], X: Any = None, Y: Any = None) -> None:
        shown.append(X)
        if before is None and after is not None:
            model.set_dim("nO", after)

    for sample in (DOCS, []):
        encoder = Model[Any, Any]("e", lambda *_: ([], list), init=init, dims={"nO": before})
        model = Model[Any, Any]("linear", list, layers=[encoder], refs={"tok2vec": encoder})
        pipe: Any = SimpleNamespace(name="it", model=model)
        with nullcontext() if message is None else pytest.raises(ConfigError, match=message):
            initialize_encoder(pipe, None, sample)
    assert shown == ([] if before == 0 else [DOCS, None])


def test_a_listener_has_to_be_heard() -> None:
    pipe = component(Listening, is_trained=True)
    ear = SimpleNamespace(listeners=[pipe.encoder])
    others: list[Any] = [("a", SimpleNamespace()), ("b", SimpleNamespace(listeners=[]))]
    heard: Any = SimpleNamespace(components=[*others, ("shared", ear)], pipe_names=["shared"])
    initialize_encoder(pipe, heard, [])
    initialize_encoder(pipe, None, [])
    initialize_encoder(component(Model, True), SimpleNamespace(components=others), [])  # type: ignore[arg-type]
    alone: Any = SimpleNamespace(components=others, pipe_names=["a", "b"])
    message = r"'it' listens to the component 'shared', .*It has a, b\..*\.it\.model\.tok2vec\]"
    with pytest.raises(ConfigError, match=message):
        initialize_encoder(pipe, alone, [])


def test_an_encoder_is_trained_with_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe, used = component(Listening, is_trained=True), list[Any]()
    pipe.encoder.layers.append(Dropout(0.1))
    set_dropout(pipe, 0.5)
    assert pipe.encoder.layers[0].attrs["dropout_rate"] == 0.5
    pipe.encoder.finish_update = used.append
    train_encoder(pipe, "optimizer")  # type: ignore[arg-type]
    assert used == ["optimizer"]
    monkeypatch.setattr(DenseRows, "token_slopes", lambda _: "slopes")
    rows: Any = [object(), object.__new__(DenseRows)]
    assert slopes_of(rows) == "slopes"


def test_without_an_encoder_there_are_no_vectors() -> None:
    pipe = component(Model, is_trained=True)
    pipe.model.set_ref("tok2vec", None)
    assert learnt(pipe) is None
    assert pipe._backprop is None
    assert slopes_of([]) is None
    set_dropout(pipe, 0.5)
    train_encoder(pipe, lambda *_: None)  # type: ignore[arg-type]
