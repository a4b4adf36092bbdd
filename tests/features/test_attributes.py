"""Attributes of words: what a template can look at."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import TEXT_FUNCTIONS
from spacy_cascade import TemplateError
from spacy_cascade.features import word_attributes
from spacy_cascade.features.attributes import Words, WordTexts
from spacy_cascade.features.registry import BUILT_IN, attribute_class
from spacy_cascade.features.strings import hash_strings
from spacy_cascade.features.templates import Templates
from spacy_cascade.features.word_attributes import (
    LONGEST,
    MANY,
    Affix,
    BriefClass,
    Class,
    Pattern,
)
from strategies import words


@given(words())
def test_plain_attributes_are_those_of_their_definition(text):
    for name, function in TEXT_FUNCTIONS.items():
        assert BUILT_IN[name](name).value(text) == function(text)


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
    assert Class("class").value(text) == whole
    assert BriefClass("brief_class").value(text) == brief


@given(words())
def test_classes_of_ascii_and_other_texts_agree(text):
    """Plain text takes a quicker way; an accent elsewhere in the word must not matter."""
    attribute = Class("class")
    assert attribute.value(text) == attribute.value(text + "é")[:-1]


@given(st.lists(words(), max_size=9), st.integers(1, 6), st.sampled_from(["prefix", "suffix"]))
def test_affixes_of_many_words_are_those_of_each(texts, n, name):
    affix, many = Affix(name, n), texts * MANY
    expected = hash_strings(map(affix.value, texts)).tolist()
    assert affix.values(Words(texts, None), None).tolist() == expected
    for form in (many, WordTexts(many)):
        assert affix.values(Words(form, None), None).tolist() == expected * MANY


def test_affixes():
    assert Affix("prefix", 2).value("abc") == "ab"
    assert Affix("suffix", 2).value("abc") == "bc"
    assert Affix("prefix", 3).value("abc") == Affix("suffix", 3).value("abc") == "abc"
    assert Affix("prefix", 4).value("abc") is Affix("suffix", 4).value("abc") is None


def test_patterns_are_found_anywhere():
    assert Pattern("pattern(x)", "[0-9]").value("IL-2") == "yes"
    assert Pattern("pattern(x)", "^[0-9]").value("IL-2") is None


def test_patterns_look_at_the_beginning_of_endless_words() -> None:
    found = Pattern("pattern(x)", "[a-z]+[A-Z]+")
    assert found.value("a" * (LONGEST - 1) + "A") == "yes"
    assert found.value("a" * LONGEST + "A") is None


def test_the_search_for_a_pattern_has_a_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of this expression is exponential; no search in so long a word would ever end."""
    monkeypatch.setattr(word_attributes, "SEARCH_SECONDS", 0.05)
    found = Pattern("pattern(x)", "(x+x+)+y")
    assert found.value("xxy") == "yes"
    with pytest.raises(TemplateError, match=r"pattern\(x\) takes more than .* word 'xxx.*x\+x\+"):
        found.value("x" * LONGEST)


ARGUMENTS = {"prefix": "2", "suffix": "3", "pattern": "x", "lexicon": "x", "lexicon_exact": "x",
             "span": "key", "word_elsewhere": "key", "phrase_elsewhere": "key", "cluster": "x",
             "vector": "x", "similarity": "x, tfidf"}  # fmt: skip
OPTIONS = Templates(
    ("word",), {"x": "[0-9]"}, {"x": ["p53"]}, clusters={"x": "x.txt"}, vectors={"x": 10}
)


@pytest.mark.parametrize("name", BUILT_IN)
def test_attributes_know_their_names_and_can_be_pickled(name) -> None:
    argument = ARGUMENTS.get(name)
    (made,) = attribute_class(name).expand(name, argument, OPTIONS)
    assert str(made) == made.name == (f"{name}({argument})" if argument else name)
    copied = pickle.loads(pickle.dumps(made))
    assert (copied, hash(copied)) == (made, hash(made))
    if argument is None:
        with pytest.raises(TemplateError, match=f"'{name}' takes no argument"):
            attribute_class(name).expand(name, "3", OPTIONS)
