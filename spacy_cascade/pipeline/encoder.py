"""The `tok2vec` of a component: any model of spaCy's that gives a vector for each token.

It may be the component's own, or a listener, which has what another component of the pipeline
gives. What is asked of it here is what spaCy's own components ask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model, Optimizer, set_dropout_rate

from ..errors import ConfigError, MissingStageError, TrainingError
from ..features.tokens import Tokens
from ..numeric.dense import DenseRows
from ..numeric.encoded import Encoded
from ..scorers.linear import encoder_of
from ..trainers.base import trains_encoders
from ..types import Floats2d, Reals2d

Encoder: TypeAlias = Model[Any, Any]
Backprop: TypeAlias = Callable[[Floats2d], None]
"""Takes the gradient with respect to the vectors of the tokens of a batch, `[T, d]`."""


class HasModel(Protocol):
    """A component that may have an encoder."""

    name: str
    model: Model[Any, Any]


class Learning(HasModel, Protocol):
    """One that learns from examples."""

    trainer: Any
    _backprop: Backprop | None


def with_vectors(pipe: HasModel, tokens: Tokens, docs: Sequence[Doc]) -> Tokens:
    """The tokens of Docs with their vectors, where the component has an encoder.

    Raises `MissingStageError` where a listener finds nothing on the Docs.
    """
    encoder = encoder_of(pipe.model)
    if encoder is None:
        return tokens
    if is_listener(encoder):
        _check_heard(pipe, docs)
    rows = encoder.predict(list(docs)) if len(tokens.words) else []
    return replace(tokens, vectors=_joined(pipe, encoder, docs, rows))


def learning_tokens(pipe: Learning, tokens: Tokens, examples: Sequence[Example]) -> Tokens:
    """The tokens of examples with the vectors that an encoder gives them in training.

    The component then has what trains the encoder with them. Raises `ConfigError` where its trainer
    cannot, and a component before this one is trained through the listener.
    """
    encoder, docs = encoder_of(pipe.model), [example.predicted for example in examples]
    is_trained = pipe.trainer is not None and trains_encoders(pipe.trainer)
    pipe._backprop = None
    if encoder is None or not (is_trained or is_listener(encoder)):
        return with_vectors(pipe, tokens, docs)
    if is_listener(encoder) and getattr(encoder, "_batch_id", None) is None:
        _check_heard(pipe, docs)
    elif not is_trained:
        raise ConfigError(
            f"'{pipe.name}' listens to the component '{listens_to(encoder)}', which is trained at "
            "the same time, and its trainer cannot pass a gradient on. Put that component into "
            "frozen_components and annotating_components of [training], or use @misc = "
            f'"spacy_cascade.Minibatch.v1" in [components.{pipe.name}.trainer].'
        )
    rows, back = encoder(docs, is_train=True)
    found = replace(tokens, vectors=_joined(pipe, encoder, docs, rows))

    def backprop(slopes: Floats2d) -> None:
        ends = np.cumsum([len(doc) for doc in docs])[:-1]
        parts: Any = np.split(slopes.astype(np.float32), ends)
        back([encoder.ops.asarray(part) for part in parts])

    pipe._backprop = backprop if is_trained else None
    return found


def slopes_of(encoded: Iterable[Encoded]) -> Floats2d | None:
    """The last gradient with respect to vectors of tokens, `[T, d]`; None where there are none."""
    for each in encoded:
        if isinstance(each, DenseRows):
            return each.token_slopes()
    return None


def initialize_encoder(pipe: HasModel, nlp: Language | None, sample: Sequence[Doc]) -> None:
    """Let an encoder find out its sizes from some Docs, and begin with random weights.

    Raises `ConfigError` for a listener that listens to no component of the pipeline, and for
    vectors of no width.
    """
    encoder = encoder_of(pipe.model)
    if encoder is None:
        return
    if is_listener(encoder) and nlp is not None and not _is_heard(encoder, nlp):
        raise ConfigError(
            f"'{pipe.name}' listens to the component '{listens_to(encoder)}', and the pipeline "
            f"has none that answers. It has {', '.join(nlp.pipe_names)}. Add a tok2vec or "
            f"transformer before it, or name the right one under upstream in "
            f"[components.{pipe.name}.model.tok2vec]."
        )
    _check_width(pipe, encoder)  # with one below zero it cannot begin
    encoder.initialize(X=list(sample) or None)
    if encoder.maybe_get_dim("nO") is None:
        raise ConfigError(
            f"The tok2vec of '{pipe.name}' does not say how wide its vectors are: its model has no "
            "dimension 'nO'. Set its width."
        )
    _check_width(pipe, encoder)


def _check_width(pipe: HasModel, encoder: Encoder) -> None:
    width = encoder.maybe_get_dim("nO")
    if width is not None and width < 1:
        raise ConfigError(
            f"The vectors of the tok2vec of '{pipe.name}' must have 1 number or more, not {width}. "
            f"Change its width under [components.{pipe.name}.model.tok2vec]."
        )


def train_encoder(pipe: HasModel, sgd: Optimizer) -> None:
    """Have an optimizer use the gradient that the encoder has added up, if there is one."""
    encoder = encoder_of(pipe.model)
    if encoder is not None:
        encoder.finish_update(sgd)


def set_dropout(pipe: HasModel, drop: float) -> None:
    """Have the encoder leave out a share of its values in training."""
    encoder = encoder_of(pipe.model)
    if encoder is not None:
        set_dropout_rate(encoder, drop)


def is_listener(encoder: Encoder) -> bool:
    """Whether it has its vectors of another component."""
    return hasattr(encoder, "upstream_name")


def listens_to(encoder: Encoder) -> str:
    """The component, or `*` for any."""
    return str(encoder.upstream_name)  # type: ignore[attr-defined]


def _is_heard(encoder: Encoder, nlp: Language) -> bool:
    components: list[tuple[str, Any]] = nlp.components
    return any(encoder in getattr(pipe, "listeners", ()) for _, pipe in components)


def _check_heard(pipe: HasModel, docs: Sequence[Doc]) -> None:
    encoder = encoder_of(pipe.model)
    assert encoder is not None
    if listens_to_tensor(encoder) and any(len(doc) and not len(doc.tensor) for doc in docs):
        raise MissingStageError(
            f"'{pipe.name}' listens to the component '{listens_to(encoder)}', and these Docs have "
            "no doc.tensor. Run that component before it; in training put it into "
            "annotating_components where it is frozen."
        )


def listens_to_tensor(encoder: Encoder) -> bool:
    """Whether it reads `doc.tensor`, as listeners of spaCy's own `tok2vec` do."""
    return encoder.name == "tok2vec-listener"


def _on_cpu(encoder: Encoder, values: Any) -> Reals2d:
    on_cpu: Any = encoder.ops.to_numpy(values)  # type: ignore[no-untyped-call]
    found: Reals2d = np.asarray(on_cpu, dtype=np.float32)
    return found


def _joined(pipe: HasModel, encoder: Encoder, docs: Sequence[Doc], rows: Sequence[Any]) -> Reals2d:
    """The vectors of all tokens, float32 `[T, d]`; rows: those of each Doc.

    Raises `TrainingError` where they are not those of the tokens, or no finite numbers.
    """
    width = encoder.get_dim("nO")
    if not len(rows):
        return np.zeros((0, width), dtype=np.float32)
    found = [_on_cpu(encoder, each) for each in rows]
    for doc, each in zip(docs, found, strict=True):
        if each.shape != (len(doc), width):
            raise TrainingError(
                f"The tok2vec of '{pipe.name}' gave an array {each.shape} for a Doc of "
                f"{len(doc)} tokens, where ({len(doc)}, {width}) is needed. Its vectors have to be "
                "those of the tokens of this pipeline, as wide as in training."
            )
    joined: Reals2d = np.concatenate(found).astype(np.float32, copy=False)
    if not np.isfinite(joined).all():
        raise TrainingError(
            f"The tok2vec of '{pipe.name}' gave vectors that are no finite numbers. Its weights, "
            "or the vectors of the pipeline, are damaged; or training has diverged: lower "
            "learn_rate in [training.optimizer]."
        )
    return joined
