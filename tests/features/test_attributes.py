"""Attributes of words: what a template can look at, and shapes in which patterns are searched."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import TEXT_FUNCTIONS
from spacy_cascade import TemplateError
from spacy_cascade.features import attributes, strings, word_attributes
from spacy_cascade.features.attributes import (
    _MOST_KNOWN,
    MANY,
    MOST_NUMBERS,
    Representatives,
    Words,
    WordTexts,
    is_plain,
    is_quick,
    numbers,
)
from spacy_cascade.features.registry import BUILT_IN, attribute_class
from spacy_cascade.features.strings import Utf8, hash_strings, is_valid
from spacy_cascade.features.template_sets import JNLPBA_PATTERNS
from spacy_cascade.features.templates import Templates
from spacy_cascade.features.word_attributes import (
    _SHORT,
    LONGEST,
    Affix,
    Bias,
    BriefClass,
    Class,
    Pattern,
)
from spacy_cascade.numeric.murmur import BLOCK
from strategies import words


@settings(max_examples=40)
@given(words())
def test_plain_attributes_are_those_of_their_definition(text):
    for name, function in TEXT_FUNCTIONS.items():
        assert BUILT_IN[name](name).value(text) == function(text)
    # Plain text takes a quicker way; an accent elsewhere in the word must not matter.
    attribute = Class("class")
    assert attribute.value(text) == attribute.value(text + "é")[:-1]


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


@settings(max_examples=40)
@given(st.lists(words(), max_size=9), st.integers(1, 6), st.sampled_from(["prefix", "suffix"]))
def test_affixes_of_many_words_are_those_of_each(texts, n, name):
    affix, many = Affix(name, n), texts * MANY
    expected = hash_strings(map(affix.value, texts)).tolist()
    assert affix.values(Words(texts, None), None).tolist() == expected
    for form in (many, WordTexts(many)):
        assert affix.values(Words(form, None), None).tolist() == expected * MANY


@settings(max_examples=40)
@given(st.lists(words(), max_size=9))
def test_attributes_of_many_words_are_those_of_each(texts):
    patterns = Templates(("word",), dict(JNLPBA_PATTERNS), {})
    plain = [BUILT_IN[name](name) for name in TEXT_FUNCTIONS]
    for attribute in [*plain, *Pattern.expand("pattern", "*", patterns)]:
        expected = hash_strings(map(attribute.value, texts)).tolist()
        for form in (texts * MANY, WordTexts(texts * MANY), WordTexts(texts)):
            found = attribute.values(Words(form, None), None).tolist()
            assert found == expected * (len(found) // max(len(expected), 1))
            assert len(found) == len(form)


def test_affixes():
    assert Affix("prefix", 2).value("abc") == "ab"
    assert Affix("suffix", 2).value("abc") == "bc"
    assert Affix("prefix", 3).value("abc") == Affix("suffix", 3).value("abc") == "abc"
    assert Affix("prefix", 4).value("abc") is Affix("suffix", 4).value("abc") is None


def test_patterns_are_found_anywhere_and_look_at_the_beginning_of_endless_words() -> None:
    assert Pattern("pattern(x)", "[0-9]").value("IL-2") == "yes"
    assert Pattern("pattern(x)", "^[0-9]").value("IL-2") is None
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
             "span": "key", "word_elsewhere": "key", "phrase_elsewhere": "key", "cluster": "x, 1",
             "similarity": "x, tfidf"}  # fmt: skip
OPTIONS = Templates(("word",), {"x": "[0-9]"}, {"x": ["p53"]}, words={"x": "x.txt"})


@pytest.mark.parametrize("name", BUILT_IN)
def test_attributes_know_their_names_and_can_be_pickled(name) -> None:
    argument = ARGUMENTS.get(name)
    (made,) = attribute_class(name).expand(name, argument, OPTIONS)
    assert str(made) == made.name == (f"{name}({argument})" if argument else name)
    assert made != made.name
    copied = pickle.loads(pickle.dumps(made))
    assert (copied, hash(copied)) == (made, hash(made))
    if argument is None:
        with pytest.raises(TemplateError, match=f"'{name}' takes no argument"):
            attribute_class(name).expand(name, "3", OPTIONS)


_PATTERNS = [
    *JNLPBA_PATTERNS.values(), ".", "^.$", "[^a-f]x", r"\.\-", "(?:ab|[c-e]+)z", "[α-ω]{2,3}$", "é",
    r"[\]a]", r"\[b]", "[^-:]",
]  # fmt: skip
_WORDS = st.text(
    st.one_of(st.sampled_from("abcdefxyzABZ059,.;:-+'\"/\n\x00 éα\U0001f600"), st.characters()),
    max_size=8,
)


@settings(max_examples=50)
@given(word=_WORDS)
def test_a_pattern_finds_the_same_in_a_word_and_in_its_shape(word: str) -> None:
    alike = Representatives(_PATTERNS)
    shape = word.translate(alike)
    assert len(shape) == len(word)
    for pattern in _PATTERNS:
        assert is_plain(pattern)
        found = regex.search(pattern, word), regex.search(pattern, shape)
        spans = [None if match is None else match.span() for match in found]
        assert spans[0] == spans[1], pattern


def test_characters_that_no_pattern_mentions_are_one() -> None:
    alike = Representatives(["[A-Z]", "[0-9]"])
    assert "Abc-9".translate(alike) == "Xyz-9".replace("X", "A").replace("yz", "bc").translate(
        alike
    )
    assert "BCD".translate(alike) == "QRS".translate(alike)
    assert "B".translate(alike) == "A".translate(alike)
    assert "b".translate(alike) != "B".translate(alike)
    "".join(map(chr, range(_MOST_KNOWN + 99))).translate(alike)
    assert len(alike) == _MOST_KNOWN
    assert "\t".translate(Representatives(["[b-\U0010ffff]"])) != "b"
    assert len(set(".,".translate(Representatives([r"a\.b", "[0-9]"])))) == 2
    assert len(set("a-b,\n".translate(Representatives(["a-b", "[0-9]"])))) == 5


def test_characters_of_patterns_that_are_not_understood_are_alone() -> None:
    for alike in (Representatives(["[[a-c]"]), Representatives(["[]a-c]"])):
        assert len(set("[]abc-".translate(alike))) == 6
        assert len(set("xyz".translate(alike))) == 1


@pytest.mark.parametrize(
    "pattern", [r"\d", r"\bx", "(?i)a", "(?=a)", "[[:alpha:]]", r"(a)\1", "(?:foo){e<=1}", r"\p{L}"]
)
def test_a_pattern_that_sees_more_is_searched_in_the_word_itself(pattern: str) -> None:
    assert not is_plain(pattern)


@pytest.mark.parametrize("pattern", [*JNLPBA_PATTERNS.values(), r"\(+[*+?{}()]+", "[a-z]{2,}x+"])
def test_two_repetitions_without_groups_are_quick(pattern: str) -> None:
    assert is_quick(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+", r"\[(a+)+\]", r"\\(?:a+)+", "[](a+)+[b]", "a*b*c*", "(?:a|b)c", "[0-9]+x{2}y?",
        r"\w+",
    ],
)  # fmt: skip
def test_a_pattern_that_may_take_long_is_not_quick(pattern: str) -> None:
    assert not is_quick(pattern)


def test_a_quick_pattern_finds_the_same_in_words_of_any_length() -> None:
    found = Pattern("pattern(x)", "[a-z]+[A-Z]+")
    for length in (1, _SHORT - 1, _SHORT, _SHORT + 1, LONGEST - 1):
        assert found.value("a" * length) is None
        assert found.value("a" * length + "A") == "yes"


class Counted(Pattern):
    """It counts the words that are searched with a limit of time."""

    n_searches = 0

    def value(self, text: str) -> str | None:
        self.n_searches += 1
        return super().value(text)


@pytest.mark.parametrize(
    ("pattern", "alike", "n_searches"),
    [
        ("^(?:a|b)", Representatives(["^(?:a|b)"]), 3),
        ("^(?i:a|b)", None, 3 * MANY),
        ("^[ab]", Representatives(["^[ab]"]), 1),
    ],
)
def test_many_words_are_searched_by_their_shapes(
    pattern: str, alike: Representatives | None, n_searches: int
) -> None:
    """Where the pattern sees no more of them; a quick one has no limit of time."""
    found = Counted("pattern(x)", pattern, alike)
    texts = [f"a{'x' * _SHORT}", "cd", "b" + "x" * (_SHORT - 1)] * MANY
    yes = hash_strings(["yes"])[0]
    assert found.values(Words(texts, None), None).tolist() == [yes, 0, yes] * MANY
    assert found.n_searches == n_searches
    few = Counted("pattern(x)", pattern, alike)
    few.values(Words(texts[: MANY - 1], None), None)
    assert few.n_searches == MANY - 1


def test_attributes_of_other_packages_have_values_of_their_own() -> None:
    """Built-in ones of the same name and the same pattern share them."""
    assert Counted("pattern(x)", "[ab]").identity is None
    one, same, other = (Pattern("pattern(x)", pattern) for pattern in ("[ab]", "[ab]", "[a]"))
    assert one.identity == same.identity != other.identity
    assert Affix("prefix", 2).identity == Affix("prefix", 2).identity
    assert Class("class").identity != BriefClass("class").identity
    assert len({Affix("prefix", 2).identity, Affix("suffix", 2).identity, one.identity}) == 3


def test_patterns_of_a_set_are_searched_in_the_same_shapes() -> None:
    """Those that see no more than shapes."""
    options = Templates(("word",), {"plain": "^(?:a|b)", "more": "^(?i:a)"}, {})
    found = Counted.expand("pattern", "*", options)
    for each in found:
        each.values(Words(["ax", "cd", "b"] * (MANY // 3), None), None)
    assert [each.n_searches for each in found] == [3, MANY]


def test_hashes_of_many_texts_in_lower_case_are_found_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = hash_strings(["ab", "c"]).tolist() * (MANY // 2)
    texts = WordTexts(["\u0130x", "Ab"] * MANY)  # the first one gets longer
    assert texts.lower.tolist() == hash_strings(map(str.lower, texts)).tolist()
    assert WordTexts.of(texts) is texts
    with monkeypatch.context() as patched:
        patched.setattr(attributes, "Utf8", None)
        assert WordTexts(["Ab", "C"]).lower.tolist() == expected[:2]
    monkeypatch.setattr(strings, "begins_character", None)
    monkeypatch.setattr(attributes, "hash_strings", None)
    assert WordTexts(["Ab", "C"] * (MANY // 2)).lower.tolist() == expected


def test_runs_of_characters_are_collapsed_within_texts() -> None:
    found = Utf8.of("aabba", np.array([0, 3, 3, 5, 5])).collapsed()
    assert bytes(found.content) == b"abba" + bytes(BLOCK)
    assert (found.places.tolist(), found.first.tolist()) == ([0, 1, 2, 3, 4], [0, 2, 2, 4, 4])


def test_texts_that_spacy_can_hold() -> None:
    assert is_valid("p53 \U0001f600")
    assert not is_valid("p\ud83d")


def test_the_bias_is_the_same_for_all_words() -> None:
    (one,) = hash_strings(["1"])
    values = Bias("bias").values(Words(["a", "b"], None), None)
    assert (values.tolist(), values.dtype) == ([one, one], np.uint64)
    assert Bias("bias").value("a") == "1"


def test_ranges_are_bounded() -> None:
    assert numbers("3") == range(3, 4)
    assert list(numbers("-1..1")) == [-1, 0, 1]
    assert len(numbers(f"5..{4 + MOST_NUMBERS}")) == MOST_NUMBERS
    with pytest.raises(TemplateError, match="has more than 1,000 numbers"):
        numbers(f"5..{5 + MOST_NUMBERS}")


def test_each_shape_is_searched_once() -> None:
    words = ["Abc", "Xbc", "abc", "12", "34", "a1", "A" * LONGEST, "A" * LONGEST + "1"]
    alike = Representatives(["^[A-Z]", "[0-9]"])
    texts = WordTexts(words)
    shapes, numbers = found = texts.shapes(alike, LONGEST)
    assert texts.shapes(alike, LONGEST) is found
    assert texts.shapes(Representatives(["[a-z]"]), LONGEST) is not found
    assert len(shapes) == 5
    assert [shapes[number] for number in numbers] == [
        word[:LONGEST].translate(alike) for word in words
    ]
