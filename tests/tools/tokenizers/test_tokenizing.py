"""`tokenize`: the tokens of spaCy, in linear time for texts without blanks, too."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc

from helpers import blank
from spacy_cascade import tokenize
from spacy_cascade.tools.tokenizers.tokenizing import LONGEST_RUN, MOST_SIGNS

WORDS = st.sampled_from(
    ["I", "can't", "(U.S.)", "x-ray", "10km,", "...", '"so"', "a/b", "日本語。"]
)
SPACES = st.sampled_from([" ", "  ", "\n", "\n\n", "\t ", ""])
LONG = ["(", "'", "_", "=", "a-", "a", "US$", "°", "😀", "http://", "x@", "日本。", "(a.b"]


@pytest.fixture(scope="module")
def english() -> Language:
    return spacy.blank("en")


class Recording(Tokenizer):
    """Keeps the texts that it gets."""

    def __init__(self, vocab: spacy.Vocab) -> None:
        super().__init__(vocab)
        self.texts: list[str] = []

    def __call__(self, string: str) -> Doc:
        self.texts.append(string)
        return super().__call__(string)


@pytest.fixture
def recorded() -> tuple[Language, list[str]]:
    nlp = blank()
    nlp.tokenizer = Recording(nlp.vocab)
    return nlp, nlp.tokenizer.texts


def as_tokens(doc: Doc) -> list[tuple[str, str, str]]:
    return [(token.text, token.whitespace_, token.norm_) for token in doc]


@settings(deadline=None)
@given(st.lists(st.tuples(WORDS, SPACES), max_size=30))
def test_texts_without_long_runs_have_the_tokens_of_the_tokenizer(
    english: Language, parts: list[tuple[str, str]]
) -> None:
    text = "".join(word + space for word, space in parts)
    assert as_tokens(tokenize(english, text)) == as_tokens(english.make_doc(text))


@pytest.mark.parametrize("piece", LONG)
def test_no_run_without_a_blank_is_long_for_the_tokenizer(
    piece: str, recorded: tuple[Language, list[str]]
) -> None:
    nlp, texts = recorded
    text = f"before {(piece * 20_000)[:20_000]} after"
    assert tokenize(nlp, text).text == "".join(texts) == text
    for run in (run for part in texts for run in part.split()):
        assert len(run) <= LONGEST_RUN
        assert sum(not c.isalnum() for c in run) <= MOST_SIGNS
    cut = [part for part in texts if not part.endswith("after")]
    if piece != "a":
        assert not any(part[-1].isalnum() for part in cut), "they end with a sign if they have one"
        assert len(cut) <= 20_000 // MOST_SIGNS + 1


@pytest.mark.parametrize(
    ("run", "parts"),
    [
        ("(" * MOST_SIGNS, 1), ("(" * (MOST_SIGNS + 1), 2), ("a" * LONGEST_RUN, 1),
        ("a" * (LONGEST_RUN + 1), 2), ("a" * 1500 + "-" + "a" * 1500, 2),
        ("(a" * MOST_SIGNS, 1), ("( " * 5 * MOST_SIGNS, 1),
    ],
)  # fmt: skip
def test_only_what_is_too_long_is_cut(
    run: str, parts: int, recorded: tuple[Language, list[str]]
) -> None:
    nlp, texts = recorded
    tokenize(nlp, run)
    assert len(texts) == parts


def test_what_is_beside_a_long_run_keeps_its_tokens(english: Language) -> None:
    sides = "I can't, (U.S.A.) ", "don't\n\nwon't."
    doc = tokenize(english, f"{sides[0]}{'(' * 300} {sides[1]}")
    left, right = (as_tokens(english.make_doc(side)) for side in sides)
    assert as_tokens(doc)[: len(left)] == left
    assert as_tokens(doc)[-len(right) :] == right
    assert len(doc) == len(left) + 300 + len(right)


@pytest.mark.parametrize("piece", ["(", "[$"])
def test_a_hundred_thousand_signs_take_a_moment(english: Language, piece: str) -> None:
    """spaCy's tokenizer takes minutes for them."""
    text = (piece * 100_000)[:100_000]
    assert tokenize(english, text).text == text


def test_other_tokenizers_get_the_whole_text() -> None:
    nlp, texts = blank(), []

    def split(text: str) -> Doc:
        texts.append(text)
        return Doc(nlp.vocab, words=re.findall(r"\w+|\W", text))

    make: Callable[[str], Doc] = split
    nlp.tokenizer = make
    tokenize(nlp, "(" * 1000)
    assert texts == ["(" * 1000]


def test_any_length(recorded: tuple[Language, list[str]]) -> None:
    nlp, _ = recorded
    nlp.max_length = 5
    assert len(tokenize(nlp, "one two three")) == 3
    assert len(tokenize(nlp, "")) == 0
