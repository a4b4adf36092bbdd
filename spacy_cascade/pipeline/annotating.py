"""Docs as a component of a pipeline leaves them."""

from collections.abc import Callable, Sequence
from typing import Any

from spacy.tokens import Doc


def annotated(pipe: Callable[[Doc], Doc], docs: Sequence[Doc]) -> list[Doc]:
    """The Docs as a component of a pipeline leaves them."""
    batched: Any = getattr(pipe, "pipe", None)
    return [pipe(doc) for doc in docs] if batched is None else list(batched(docs))
