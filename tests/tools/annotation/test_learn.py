"""Which way of learning is taken without documents to compare on, and what it learns from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from spacy.language import Language
from spacy.training import Example

from helpers import make_example, make_examples
from spacy_cascade.tools.annotation import learn as module
from spacy_cascade.tools.annotation.learn import ADAPTED, RETRAINED, Tried, learn

VIRUS = "HIV infects primary monocytes ."


@pytest.mark.parametrize("with_old", [False, True])
def test_without_dev_it_is_retraining_where_the_old_corpus_is_there(
    trained: Language, monkeypatch: pytest.MonkeyPatch, with_old: bool
) -> None:
    """On all documents; parts of them, not an empty dev, say when to stop."""
    learnt_from: dict[str, Any] = {}

    def fit(_: Language, examples: Sequence[Example], dev: Any) -> None:
        learnt_from[RETRAINED] = [example.text for example in examples], dev

    def adapt(_: Language, examples: Sequence[Example], updates: int) -> None:
        learnt_from[ADAPTED] = [example.text for example in examples], updates

    monkeypatch.setattr(module, "fit", fit)
    monkeypatch.setattr(module, "adapt", adapt)
    old = make_examples(trained)[:2] if with_old else []
    new = [make_example(trained, VIRUS, [(0, 1, "virus")])]
    found = learn(trained, new, old, updates=3)
    way = RETRAINED if with_old else ADAPTED
    assert found.way == way
    assert found.tried == (Tried(way, None, found.tried[0].seconds),)
    assert 0.0 <= found.tried[0].seconds < 60.0
    texts = [example.text for example in [*old, *new]]
    assert learnt_from == {way: (texts, None if with_old else 3)}
