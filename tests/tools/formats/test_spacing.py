"""Natural spacing: what is joined, and that words stay as they are."""

from __future__ import annotations

import pytest
import spacy
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from helpers import blank
from spacy_cascade.pipeline.tokenizers import make_punctuation_tokenizer
from spacy_cascade.tools.formats.spacing import Spacer, Style, find_style

SPLITTING = find_style(
    [["NF", "-", "B", "/", "1", ".", "5", ":", "a", "/", "b", "1", "-", "2", "3", "/", "4"]] * 9
)
"""Of a corpus that splits words at all marks."""


def text_of(words: str, lang: str = "en", style: Style | None = None) -> str:
    tokens = words.split()
    spaces = Spacer(style or Style(), lang).spaces(tokens)
    return "".join(w + " " * s for w, s in zip(tokens, spaces, strict=True)).strip()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("It is n't ( really ) , he 's said : no !", "It isn't (really), he's said: no!"),
        ('He said " yes " and " no " .', 'He said "yes" and "no".'),
        ("` ` a", "``a"),
        ("`` a '' .", "``a''."),
        ("the boys ' toys", "the boys' toys"),
        ("' can of this ' sounding", "'can of this' sounding"),
        ("I 'm gon na pay $ 5 or 5 % ...", "I'm gonna pay $5 or 5%..."),
        ("# tag @ me : )", "#tag @me :)"),
        ("[ 1 ] ; “ a ” ‘ b ’", "[1]; “a” ‘b’"),
        ("a - b and T-cell -- c", "a - b and T-cell -- c"),
        ('the term ( " Agent ") .', 'the term ("Agent").'),
        ("37 ° C", "37°C"),
        ("IL-2 -mediated and -beta (p50) -like -5", "IL-2-mediated and -beta (p50)-like -5"),
        ("京 、 都 。 a b", "京、都。 a b"),
        ("es ¿ Qué ? ¡ No !", "¿Qué? ¡No!"),
        ("fr l' eau : « oui » ?", "l'eau : « oui » ?"),
        ("nl 's avonds in zo'n huis .", "'s avonds in zo'n huis."),
        ("de Er sagte : „ Ja “ .", "Er sagte: „Ja“."),
    ],
)
def test_spaces_of_english_and_other_languages(words: str, text: str) -> None:
    first, _, rest = words.partition(" ")
    is_other = first in ("es", "fr", "nl", "de")
    assert (text_of(rest, first) if is_other else text_of(words)) == text


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("NF - kappa B / Rel", "NF-kappa B/Rel"),
        ("( TGF ) - beta", "(TGF)-beta"),
        ("T - and B - cells", "T- and B-cells"),
        ("1 . 5 mg . It", "1.5 mg. It"),
        ("a p < - 2 , b", "a p < -2, b"),
        ("CD4 + cells ( + / - )", "CD4+ cells (+/-)"),
        ("- a", "- a"),
    ],
)
def test_marks_that_the_corpus_splits_off_are_joined(words: str, text: str) -> None:
    assert text_of(words, style=SPLITTING) == text


def test_the_corpus_tells_which_marks_are_split_off() -> None:
    sentences = [["T-cell", "a", "-", "b"], ["IL-2"]] * 20
    assert find_style(sentences).split_off == frozenset()
    assert "-a" in find_style([["a", "-", "b"]] * 20).split_off
    between_letters = find_style([["T", "-", "cell", "IL-2"]] * 20)
    assert text_of("T - cell 1 - 2", style=between_letters) == "T-cell 1 - 2"
    # Addresses say nothing of slashes.
    assert "/a" in find_style([["and", "/", "or", "http://a/b/c"]] * 20).split_off


def test_words_that_stand_for_marks_are_counted() -> None:
    assert find_style([["-LRB-", "a", "``"]]).escaped == 2
    assert find_style([["play", "##ing"]]).is_pieces
    assert not find_style([]).is_pieces


def test_a_quotation_may_go_on_in_the_next_sentence() -> None:
    spacer = Spacer(Style())
    assert spacer.spaces(['"', "a", "."]) == [False, False, True]
    assert spacer.spaces(["b", '"', "c"]) == [False, True, True]
    assert spacer.spaces(["b", '"', "c"]) == [True, False, True]


@pytest.mark.parametrize(
    "words", [[], ["."], ['"'], ["'"], [")", "("], ["-"], ['"', "'", "-", "/"]]
)
@pytest.mark.parametrize("style", [Style(), SPLITTING])
def test_odd_sentences_have_spaces(words: list[str], style: Style) -> None:
    spaces = Spacer(style).spaces(words)
    assert len(spaces) == len(words)
    assert spaces[-1:] in ([], [True])


BLANK = blank()
SPLITTER = make_punctuation_tokenizer()(BLANK)
MARKS = st.sampled_from([*list("-/.,:;()[]\"'’“”«»%$#@+*&=°¿"), "...", "''", "``", '").', ":)"])
WORDS = st.lists(MARKS | st.text(min_size=1, max_size=4), max_size=12)


@seed(0)
@settings(max_examples=50)
@given(words=WORDS, lang=st.sampled_from(["en", "fr", "nl", "xx"]), splits=st.booleans())
def test_any_words_get_spaces(words: list[str], lang: str, splits: bool) -> None:
    spaces = Spacer(SPLITTING if splits else find_style([words]), lang).spaces(words)
    assert len(spaces) == len(words)
    doc = spacy.tokens.Doc(BLANK.vocab, words=words, spaces=spaces)
    assert [token.text for token in doc] == words
    assert "".join(words) == doc.text.replace(" ", "") or any(" " in word for word in words)


@seed(0)
@settings(max_examples=50)
@given(
    st.lists(
        st.sampled_from(
            ["a", "IL", "2", "kappa", "-", "/", ".", ",", "(", ")", "15", "and", "cells"]
        ),
        max_size=12,
    )
)
def test_the_tokenizer_for_marks_finds_the_words_again(words: list[str]) -> None:
    """Words side by side always have a space between them, and marks are tokens without one."""
    spaces = Spacer(SPLITTING).spaces(words)
    text = "".join(w + " " * s for w, s in zip(words, spaces, strict=True)).strip()
    assert [token.text for token in SPLITTER(text)] == words
