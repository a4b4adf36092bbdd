"""Tables of words wait for a thread that holds the lock."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread

import numpy as np
import pytest

from spacy_cascade.features.space import FeatureSpace
from spacy_cascade.features.spelled_words import SpelledWords
from spacy_cascade.features.templates import Templates
from spacy_cascade.parallel import LEXEME_LOCK

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
    "spellings": lambda space: SpelledWords().rows(WORDS, str),
}


@pytest.mark.parametrize("name", CALLS)
def test_it_waits_for_the_lock(name: str, space: FeatureSpace) -> None:
    begun, done = Event(), Event()

    def call() -> None:
        begun.set()
        CALLS[name](space)
        done.set()

    CALLS[name](space)
    thread = Thread(target=call, daemon=True)
    with LEXEME_LOCK:
        thread.start()
        assert begun.wait(10)
        assert not done.wait(0.1)
    assert done.wait(10)
    thread.join()
