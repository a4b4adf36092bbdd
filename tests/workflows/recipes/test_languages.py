"""Languages by their stop words."""

from __future__ import annotations

from collections import Counter
from importlib import import_module

import pytest

from spacy_cascade.workflows.recipes.languages import Language, guess_language

LANGUAGES = ("de", "en", "es", "fr", "it", "pt", "nl", "sv", "pl", "ru")
"""Those with enough sentences in spaCy's language data."""


def words_of(code: str) -> Counter[str]:
    sentences = import_module(f"spacy.lang.{code}.examples").sentences
    return Counter(word for text in sentences for word in text.replace(".", " ").split())


@pytest.mark.parametrize("code", LANGUAGES)
def test_sentences_of_a_language(code: str) -> None:
    counts = words_of(code)
    repeated = Counter({word: 5 * n for word, n in counts.items()})
    assert guess_language(repeated) in (Language(code, True), Language("en", False))


def test_most_languages_are_told() -> None:
    found = [guess_language({w: 5 * n for w, n in words_of(code).items()}) for code in LANGUAGES]
    assert sum(language.is_sure for language in found) >= 8


def test_what_does_not_tell_is_assumed_to_be_english() -> None:
    assumed = Language("en", False)
    assert guess_language({}) == assumed
    assert guess_language({"the": 3, "and": 2}) == assumed  # too few
    assert guess_language({"STAT5": 500, "kinase": 500}) == assumed
