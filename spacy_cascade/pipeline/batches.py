"""Annotating batch by batch, while no label may change.

Predictions are numbers of labels. Where another thread adds a label between `predict` and
`set_annotations`, or while weights are read, the numbers would stand for others.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import TrainingError
from ..parallel import LEXEME_LOCK
from .reading import Scoring


@contextmanager
def unchanging(component: Scoring) -> Iterator[None]:
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


def _changed(component: Scoring) -> TrainingError:
    return TrainingError(
        f"The labels of '{component.name}' changed while it annotated in another thread, so its "
        "annotation cannot be relied on. Add labels, train and load only while no thread "
        "annotates, and annotate these Docs again."
    )
