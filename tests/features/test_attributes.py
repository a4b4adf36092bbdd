"""Attributes of words: what a template can look at."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from reference import TEXT_FUNCTIONS
from spacy_cascade.features import attributes
from strategies import words


@given(words())
def test_plain_attributes_are_those_of_their_definition(text):
    assert set(attributes.PLAIN) == set(TEXT_FUNCTIONS)
    for name, function in attributes.PLAIN.items():
        assert function(text) == TEXT_FUNCTIONS[name](text)


@pytest.mark.parametrize(
    ("text", "whole", "brief"),
    [
        ("NF-kappaB", "AA_aaaaaA", "A_aA"),
        ("IL-2", "AA_0", "A_0"),
        ("p53", "a00", "a0"),
        ("größer", "aaaaaa", "a"),
        ("Ωmega", "Aaaaa", "Aa"),
        ("東京", "aa", "a"),
        ("٣²", "00", "0"),
        ("😀👍🏽", "___", "_"),
        ("e\u0301", "a_", "a_"),
        ("é", "a", "a"),
        ("ǅ", "a", "a"),
        ("𝐀𝐚𝟎", "Aa0", "Aa0"),
        ("a\u200db", "a_a", "a_a"),
        ("\u00ad", "_", "_"),
        ("aa\n\n", "aa__", "a_"),
    ],
)
def test_word_classes(text, whole, brief):
    """One letter for each code point: emoji and combining marks are neither."""
    assert attributes.word_class(text) == whole
    assert attributes.brief_word_class(text) == brief


@given(words())
def test_classes_of_ascii_and_other_texts_agree(text):
    """Plain text takes a quicker way; an accent elsewhere in the word must not matter."""
    assert attributes.word_class(text) == attributes.word_class(text + "é")[:-1]


def test_affixes():
    assert attributes.prefix("abc", 2) == "ab"
    assert attributes.suffix("abc", 2) == "bc"
    assert attributes.prefix("abc", 3) == attributes.suffix("abc", 3) == "abc"
    assert attributes.prefix("abc", 4) is attributes.suffix("abc", 4) is None
    assert attributes.affix("suffix", 1)("abc") == "c"


def test_patterns_are_found_anywhere():
    assert attributes.regex("[0-9]")("IL-2") == "yes"
    assert attributes.regex("^[0-9]")("IL-2") is None
    with pytest.raises(re.error):
        attributes.regex("(")


def test_patterns_look_at_the_beginning_of_endless_words() -> None:
    found = attributes.regex("[a-z]+[A-Z]+")
    assert found("a" * (attributes.LONGEST - 1) + "A") == "yes"
    assert found("a" * attributes.LONGEST + "A") is None
