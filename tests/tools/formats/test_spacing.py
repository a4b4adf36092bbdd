"""Natural spacing: what is joined, and that words stay as they are."""

from __future__ import annotations

import pytest
import spacy
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from helpers import blank
from spacy_cascade.pipeline.tokenizers import make_punctuation_tokenizer
from spacy_cascade.tools.formats.spacing import Spacer, Style, find_style, is_heading

SPLITTING = find_style(
    [["NF", "-", "B", "/", "1", ".", "5", ":", "a", "/", "b", "1", "-", "2", "3", "/", "4"]] * 9
)
"""Of a corpus that splits words at all marks."""
OF_MARKS = find_style([["it", "'", "s", "1", ",", "000", "1", ":", "5"]] * 9)
"""Of a corpus that splits off apostrophes, and commas and colons within numbers."""


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
        ("the boy ' toys", "the boy 'toys"),
        ("B-s ' toys", "B-s' toys"),
        ("it was ' so ' and ' no '", "it was 'so' and 'no'"),
        ("' it is", "'it is"),
        ("it ' s ' x", "it 's' x"),
        ('" Agent of it " .', '"Agent of it".'),
        ('"Agent of it " .', '"Agent of it".'),
        ('the "x" of " y " .', 'the "x" of "y".'),
        ("' can of this ' sounding", "'can of this' sounding"),
        ("I 'm gon na pay $ 5 or 5 % ...", "I'm gonna pay $5 or 5%..."),
        ("# tag @ me : )", "#tag @me :)"),
        ("( a : ) ) ; ( :) )", "(a:)); (:))"),
        ("me : ) ok :) or ( a ) b : )", "me :) ok :) or (a) b :)"),
        ("a : )) b . )", "a:)) b.)"),
        ("a -) b \"- c '). &, d", "a -) b \"- c'). &, d"),
        ("# ( ~ 3 & 4 ) $ 5.50", "# (~3 & 4) $5.50"),
        ("gim me and got ta , not gon ta", "gimme and gotta, not gon ta"),
        ("( 's ) x ’s B-x 's . 's it 'tis", "('s) x’s B-x's. 's it 'tis"),
        ("l' eau", "l' eau"),
        ("[ 1 ] ; “ a ” ‘ b ’", "[1]; “a” ‘b’"),
        ("a - b and T-cell -- c", "a - b and T-cell -- c"),
        ('the term ( " Agent ") .', 'the term ("Agent").'),
        ("-4 ° C and 5 ° a or a ° F", "-4°C and 5° a or a °F"),
        ("IL-2 -mediated and -beta (p50) -like -5", "IL-2-mediated and -beta (p50)-like -5"),
        ("[p50] -like . -like", "[p50]-like. -like"),
        ("京 、 都 。 a b 京 都", "京、都。 a b 京都"),
        ("es ¿ Qué ? ¡ No !", "¿Qué? ¡No!"),
        ("fr l' eau : « oui » ?", "l'eau : « oui » ?"),
        ("fr L’ eau , ( non ) . 'l' x", "L’eau, (non). 'l' x"),
        ("nl 's avonds 's in zo'n huis .", "'s avonds 's in zo'n huis."),
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
        ("a + b or 4 + 5 or ( c ) + d", "a+ b or 4 + 5 or (c) + d"),
        ("- a", "- a"),
        ("NF - ( kappa ) or 5 % - [ b ]", "NF-(kappa) or 5%-[b]"),
        ("( TGF ) - and x _ y", "(TGF)- and x_y"),
        ("a < - and NF - “ b ”", "a < - and NF - “b”"),
        ("e . g . it", "e.g. it"),
        ("ab . cd . x", "ab. cd. x"),
        ("1 . g . x", "1. g. x"),
        ("g . 1 . x", "g. 1. x"),
        ("I . E x . y", "I. E x. y"),
        ("in 5 . It", "in 5. It"),
    ],
)
def test_marks_that_the_corpus_splits_off_are_joined(words: str, text: str) -> None:
    assert text_of(words, style=SPLITTING) == text


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("it ' s", "it's"),
        ("it ' s so", "it's so"),
        ("it ' so ' x", "it 'so' x"),
        ("- ' s", "- 's"),
        ("5 ' 3", "5' 3"),
        ("5 ' 3 ' x", "5' 3' x"),
        ("1 , 000 or 100 , 000", "1,000 or 100,000"),
        ("1 , 00 or 1000 , 000", "1, 00 or 1000, 000"),
        ("1 , 00a or a , 000", "1, 00a or a, 000"),
        ("10 : 30 , 5 : a", "10:30, 5: a"),
        ("a : b . x", "a: b. x"),
    ],
)
def test_apostrophes_and_marks_in_numbers_that_are_split_off(words: str, text: str) -> None:
    assert text_of(words, style=OF_MARKS) == text


def test_the_corpus_tells_which_marks_are_split_off() -> None:
    sentences = [["T-cell", "a", "-", "b"], ["IL-2"]] * 20
    assert find_style(sentences).split_off == frozenset()
    assert "-a" in find_style([["a", "-", "b"]] * 20).split_off
    not_between_digits = find_style([["T", "-", "cell", "IL-2"]] * 20)
    assert text_of("T - cell 1 - 2", style=not_between_digits) == "T-cell 1 - 2"
    hyphens = "-‐‑–"
    between_digits = find_style([["1", "-", "2"]] * 5).split_off
    assert between_digits == {mark + "0" for mark in hyphens}
    between_letters = find_style([["T", "-", "cell"]] * 5).split_off
    assert between_letters == {mark + "a" for mark in hyphens}
    assert find_style([["T", "-", "cell"]] * 4).split_off == frozenset()
    all_places = find_style([["T", "-", "cell", "1", "-", "2"]] * 5).split_off
    assert all_places == between_digits | between_letters | {"+", "_"}
    # A digit on one side is enough.
    for words in (["2", "-", "x", "2-x"], ["x", "-", "2", "x-2"]):
        assert find_style([words] * 20).split_off == frozenset()
        assert find_style([words[:3]] * 20).split_off == between_digits
    # Addresses say nothing of slashes.
    assert "/a" in find_style([["and", "/", "or", "http://a/b/c"]] * 20).split_off


@pytest.mark.parametrize(
    ("words", "splits"),
    [
        (["1", ",", "000"], {","}), (["123", ",", "000"], {","}), (["x", ",", "000"], set()),
        (["1", ",", "0000"], set()), (["1", ",", "00"], set()),
        (["it", "'", "s"], {"'"}), (["it", "’", "ll"], {"’"}), (["it", "'", "was"], set()),
        (["1", "'", "3"], {"'"}), (["1", ".", "5"], {"."}), (["1", ".", "It"], set()),
        (["1", ":", "5"], {":"}), (["a", "/", "b"], {"/a"}), (["1", "/", "b"], {"/0"}),
        ([")", "/", "b"], set()), (["(", "'", "s"], set()), (["a", "+", "b"], set()),
        (["a", "/", "cell\n"], {"/a"}),
    ],
)  # fmt: skip
def test_marks_show_a_style_between_some_words(words: list[str], splits: set[str]) -> None:
    """They do so in the same places where they stand inside of words."""
    assert find_style([words] * 5).split_off == splits
    assert find_style([[*words, "".join(words)]] * 5).split_off == frozenset()
    # What stands farther off, be it a line break, does not matter.
    around = ["\n" + words[0].rjust(3, "."), *words[1:]]
    assert find_style([around] * 5).split_off == splits
    assert find_style([[*words, "".join(around)]] * 5).split_off == frozenset()


def test_the_commonest_words_tell_the_style() -> None:
    """A mark is split off where it is alone more than fifty times as often as inside."""
    for n, splits in ((50, set()), (51, {"/a"})):
        assert find_style([["a/b"], *[["a", "/", "b"]] * n]).split_off == splits
    for n, is_pieces in ((99, True), (100, False)):
        assert find_style([["##ing"], ["play"] * (n - 1)]).is_pieces == is_pieces


def test_words_that_stand_for_marks_are_counted() -> None:
    assert find_style([["-LRB-", "a", "``"]]).escaped == 2
    assert find_style([["play", "##ing"]]).is_pieces
    assert not find_style([]).is_pieces


def test_a_heading_has_no_final_mark() -> None:
    sentences = [["A", "title"], ["-"], ["It", "."], ["no", '."'], ["?"], []]
    assert list(map(is_heading, sentences)) == [True, True, False, False, False, False]


def test_a_quotation_may_go_on_in_the_next_sentence() -> None:
    spacer = Spacer(Style())
    assert spacer.spaces(['"', "a", "."]) == [False, False, True]
    assert spacer.spaces(["b", '"', "c"]) == [False, True, True]
    assert spacer.spaces(["b", '"', "c"]) == [True, False, True]
    assert spacer.spaces(['"', "b", '"']) == [False, False, True]  # as these are a pair
    spacer.spaces(['"'])
    assert spacer.spaces(['"', "b", '"', "c", '"']) == [True, True, False, False, True]


@pytest.mark.parametrize("word", ['("', '(("', '"a', '"ab'])
def test_a_quote_with_other_characters_may_open_a_quotation(word: str) -> None:
    assert text_of(f'{word} b " c').endswith(' b" c')


@pytest.mark.parametrize("word", ['x"', '"x"', '",', 'x"y', '("x', '"a.', '").'])
def test_a_quote_with_other_characters_may_open_nothing(word: str) -> None:
    assert text_of(f'{word} b " c').endswith(' b "c')


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
