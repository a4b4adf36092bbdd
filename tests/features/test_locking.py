"""Tables of words wait for a thread that holds the lock."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from locking import waits_for_lock
from spacy_cascade.features.space import FeatureSpace
from spacy_cascade.features.templates import Templates

WORDS = np.array([3, 5], dtype=np.uint64)


@pytest.fixture(scope="module")
def space() -> FeatureSpace:
    return FeatureSpace(Templates(("word@-1..1", "suffix(2)"), {}, {}))


def add_words(space: FeatureSpace) -> object:
    return space.lexemes.rows(WORDS, [], str)


CALLS: dict[str, Callable[[FeatureSpace], object]] = {
    "rows of words": add_words,
    "attributes": lambda space: space.lexemes.attributes,
    "forms": lambda space: space.lexemes.form_of,
    "origins": lambda space: space.lexemes.origins,
    "forgetting words": lambda space: space.forget_lexemes(0),
}


@pytest.mark.parametrize("name", CALLS)
def test_it_waits_for_the_lock(name: str, space: FeatureSpace) -> None:
    CALLS[name](space)
    assert waits_for_lock(lambda: CALLS[name](space))
