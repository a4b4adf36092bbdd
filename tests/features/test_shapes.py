"""Shapes of words: patterns find in a shape what they find in its word."""

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from spacy_cascade.features.attributes import Representatives, Words, WordTexts, is_plain, is_quick
from spacy_cascade.features.template_sets import JNLPBA_PATTERNS
from spacy_cascade.features.word_attributes import _SHORT, LONGEST, Pattern

_PATTERNS = [
    *JNLPBA_PATTERNS.values(), ".", "^.$", "[^a-f]x", r"\.\-", "(?:ab|[c-e]+)z", "[α-ω]{2,3}$", "é",
]  # fmt: skip
_WORDS = st.text(
    st.one_of(st.sampled_from("abcdefxyzABZ059,.;:-+'\"/\n\x00 éα\U0001f600"), st.characters()),
    max_size=8,
)


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
    assert "B".translate(alike) != "A".translate(alike)  # the ends of a range are mentioned
    assert "b".translate(alike) != "B".translate(alike)


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


def test_each_shape_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    patterns = {"capital": "^[A-Z]", "digits": r"\d"}

    class Options:
        pass

    options = Options()
    options.patterns = patterns  # type: ignore[attr-defined]
    attributes = list(Pattern.expand("pattern", "*", options))  # type: ignore[arg-type]
    words = ["Abc", "Xbc", "abc", "12", "34", "a1"]
    looked_at: list[str] = []
    search = Pattern.value

    def value(self: Pattern, text: str) -> str | None:
        looked_at.append(text)
        return search(self, text)

    monkeypatch.setattr(Pattern, "value", value)
    for attribute, n_expected in zip(attributes, (5, 6), strict=True):
        looked_at.clear()
        found = attribute.values(Words(WordTexts(words), None), None)
        plain = attribute.values(Words(words, None), None)
        assert found.tolist() == plain.tolist()
        assert len(looked_at) == n_expected + len(words)
