"""Updates of a pipeline on all examples of a corpus, as its trainers take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spacy.language import Language
from spacy.training import Example
from spacy.util import minibatch
from thinc.api import Model

from ..pipeline.base import CascadePipe, is_learner
from ..scorers.linear import encoder_of
from ..trainers.base import trains_encoders

BATCH = 16
"""Examples of a batch where a trainer goes by gradient."""
_LEAST_STEPS = 20
"""Steps by gradient of an update, however few the examples are."""


def learners(nlp: Language) -> list[tuple[str, CascadePipe]]:
    """The components that a trainer of the config trains."""
    return [(name, pipe) for name, pipe in nlp.pipeline if is_learner(pipe)]


def upstream(nlp: Language) -> tuple[list[str], list[str]]:
    """The components that learners listen to: those of learners alone, and those of others, too."""
    names = {name for name, _ in learners(nlp)}
    heard = {
        name: set(listening)
        for name, pipe in nlp.pipeline
        if (listening := getattr(pipe, "listener_map", None))
    }
    ours = [name for name, listening in heard.items() if listening <= names]
    others = [name for name, listening in heard.items() if listening & names and name not in ours]
    return ours, others


def update(
    nlp: Language,
    examples: Sequence[Example],
    exclude: Sequence[str],
    annotates: Sequence[str],
    keeps_encoders: bool = False,
) -> None:
    """Update the components that are not excluded, once on all examples.

    Trainers by gradient are given batches, others all at once. keeps_encoders: a `tok2vec` of a
    learner stays as it is.
    """
    pipes = [pipe for name, pipe in learners(nlp) if name not in exclude]
    for name, pipe in nlp.pipeline:
        if name in exclude:
            for listener in getattr(pipe, "listeners", ()):
                # What it had from an earlier update is not of these examples.
                listener.receive(None, None, None)
    how: dict[str, Any] = {"exclude": exclude, "annotates": annotates}
    if keeps_encoders:
        how["sgd"] = False
    if not any(trains_encoders(pipe.trainer) for pipe in pipes):
        nlp.update(examples, **how)
        return
    batches = list(minibatch(examples, BATCH))  # type: ignore[no-untyped-call]
    for _ in range(max(1, -(-_LEAST_STEPS // len(batches)))):
        for batch in batches:
            nlp.update(batch, **how)
    if keeps_encoders:
        for pipe in pipes:
            _forget_gradient(encoder_of(pipe.model))


def _forget_gradient(encoder: Model[Any, Any] | None) -> None:
    for node in () if encoder is None else encoder.walk():
        for name in node.grad_names:
            node.set_grad(name, node.ops.alloc(node.get_grad(name).shape))
