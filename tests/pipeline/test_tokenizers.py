"""The project's tokenizers."""

from __future__ import annotations

import pickle

import pytest
from spacy.language import Language
from spacy.util import registry

from helpers import blank

TEXT = "IL-2-induced NF-kappa B (p50/p65) binds, e.g. 1. don't  here.Next"


def with_tokenizer(name: str) -> Language:
    config = blank().config.copy()
    config["nlp"]["tokenizer"] = {"@tokenizers": f"spacy_cascade.{name}.v1"}
    return type(blank()).from_config(config)


def test_names_stay_whole() -> None:
    tokenizer = registry.tokenizers.get("spacy_cascade.WholeNamesTokenizer.v1")()(blank())
    words = [token.text for token in tokenizer(TEXT)]
    assert {"IL-2-induced", "NF-kappa", "p50/p65", "(", ")", "here", "Next"} <= set(words)


def test_nothing_is_split_but_at_spaces() -> None:
    tokenizer = registry.tokenizers.get("spacy_cascade.SpaceTokenizer.v1")()(blank())
    doc = tokenizer(TEXT)
    assert [t.text for t in doc if not t.is_space] == TEXT.split()
    assert doc.text == TEXT


@pytest.mark.parametrize("name", ["WholeNamesTokenizer", "SpaceTokenizer"])
def test_they_come_back(name: str) -> None:
    nlp = with_tokenizer(name)
    expected = [token.text for token in nlp(TEXT)]
    for copy in (
        type(blank()).from_config(nlp.config).from_bytes(nlp.to_bytes()),
        pickle.loads(pickle.dumps(nlp)),
    ):
        assert [token.text for token in copy(TEXT)] == expected
