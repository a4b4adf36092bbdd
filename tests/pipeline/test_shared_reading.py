"""Components of one pipeline read the examples of `initialize` once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from spacy.language import Language
from spacy.training import Example

from helpers import cascade, make_examples
from spacy_cascade.pipeline import corpus


class Reader:
    """Gives examples one by one, and counts how often it is read to the end."""

    def __init__(self, examples: list[Example]) -> None:
        self.examples, self.n_passes = examples, 0

    def __call__(self) -> Iterator[Example]:
        yield from self.examples
        self.n_passes += 1


def initialized(kept_tokens: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Language, Reader]:
    monkeypatch.setattr(corpus, "_MOST_KEPT", kept_tokens)
    nlp = cascade()
    reader = Reader(make_examples(nlp))
    nlp.initialize(reader)
    return nlp, reader


def keys_of(nlp: Language) -> list[np.ndarray]:
    return [nlp.get_pipe(name).space.index.keys for name in nlp.pipe_names]


def test_the_second_component_gets_what_the_first_has_read(monkeypatch: pytest.MonkeyPatch) -> None:
    shared, once = initialized(1000, monkeypatch)
    apart, twice = initialized(0, monkeypatch)
    assert (once.n_passes, twice.n_passes) == (1, 2)
    for one, other in zip(keys_of(shared), keys_of(apart), strict=True):
        np.testing.assert_array_equal(one, other)


def test_nothing_is_kept_after_a_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    nlp, reader = initialized(1000, monkeypatch)
    assert not corpus._kept
    reader.examples = reader.examples[:2]
    nlp.initialize(reader)
    assert reader.n_passes == 2
    assert nlp.get_pipe("cascade_classifier").n_examples == 2


def test_an_earlier_attempt_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first component always reads anew."""
    monkeypatch.setattr(corpus, "_MOST_KEPT", 1000)
    nlp = cascade()
    reader = Reader(make_examples(nlp))
    nlp.get_pipe("cascade_segmenter").initialize(reader, nlp=nlp)
    reader.examples = reader.examples[:2]
    nlp.initialize(reader)
    assert [nlp.get_pipe(name).n_examples for name in nlp.pipe_names] == [2, 2]
