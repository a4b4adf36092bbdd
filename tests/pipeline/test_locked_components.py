"""Components wait for a thread that holds the lock before they change what others read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from spacy.language import Language

from helpers import TEXTS, blank
from locking import waits_for_lock
from spacy_cascade.pipeline.batches import unchanging


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
