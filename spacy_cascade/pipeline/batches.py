"""Annotating batch by batch, while no label may change.

Predictions are numbers of labels. Where another thread adds a label between `predict` and
`set_annotations`, or while weights are read, the numbers would stand for others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.util import minibatch

from ..errors import TrainingError
from ..parallel import LEXEME_LOCK


class Labelled(Protocol):
    """A component with a name and labels; other labels are another tuple."""

    name: str

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels."""


@contextmanager
def unchanging(component: Labelled) -> Iterator[None]:
    """Raise `TrainingError` at the end where the component has other labels than at the start.

    An error that this caused is its cause. Labels and weights change under the lock, labels first:
    whoever begins sees both before the change or both after it, and whoever has seen a part of it
    sees other labels at the end.
    """
    with LEXEME_LOCK:
        labels = component.labels
    try:
        yield
    except Exception as error:
        if component.labels is not labels:
            raise _changed(component) from error
        raise
    if component.labels is not labels:
        raise _changed(component)


def _changed(component: Labelled) -> TrainingError:
    return TrainingError(
        f"The labels of '{component.name}' changed while it annotated in another thread, so its "
        "annotation cannot be relied on. Add labels, train and load only while no thread "
        "annotates, and annotate these Docs again."
    )


class BatchPipe(TrainablePipe):  # type: ignore[misc]
    """A pipe that annotates as spaCy's do, and raises `TrainingError` where labels change."""

    def __call__(self, doc: Doc) -> Doc | None:
        """Annotate a Doc; None where it failed and the error handler did not raise."""
        return doc if self._annotate([doc]) else None

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Annotate Docs in batches of so many; without those that failed."""
        for docs in minibatch(stream, size=batch_size):  # type: ignore[no-untyped-call]
            if self._annotate(docs):
                yield from docs

    def _get_ready(self) -> None:
        """Called before a batch is annotated, while labels may still change."""

    def _annotate(self, docs: list[Doc]) -> bool:
        """Whether it worked; what fails goes to the error handler."""
        try:
            self._get_ready()
            with unchanging(self):
                self.set_annotations(docs, self.predict(docs))
        except Exception as error:
            self.get_error_handler()(self.name, self, docs, error)
            return False
        return True
