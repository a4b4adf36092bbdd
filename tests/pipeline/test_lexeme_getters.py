"""Attributes of words, as spaCy computes them and as its quicker functions do."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import pytest
import spacy
from hypothesis import example, given
from hypothesis import strategies as st
from spacy.lang.en import lex_attrs as english

from spacy_cascade.pipeline.lexeme_getters import _number, _of_marks, _with_mark, quicken

_MARKS = [*"()[]{}<>\"'`«»‘’‚‛“”„‟‹›❮❯$€.,;:!?@/-+±~", "''", "``", "http://", "www.", "a@b.co"]


def _getters(language: str) -> tuple[dict[int, Any], dict[int, Any]]:
    plain, quick = spacy.blank(language).vocab, spacy.blank(language).vocab
    quicken(quick)
    return dict(plain.lex_attr_getters), dict(quick.lex_attr_getters)


PLAIN, QUICK = _getters("en")


def _attributes(getters: dict[int, Any], text: str) -> dict[int, Any]:
    return {attribute: getter(text) for attribute, getter in getters.items()}


@given(
    st.text(st.sampled_from("aZ1_") | st.characters(), min_size=1, max_size=6)
    | st.lists(st.sampled_from([*_MARKS, "a", "co", "1"]), min_size=1, max_size=4).map("".join)
)
@example("https://x")
@example("21st")
@example("İth")
def test_attributes_are_those_of_spacy(text: str) -> None:
    found = _attributes(QUICK, text)
    assert found == _attributes(PLAIN, text)
    assert all(type(value) in (bool, str) for value in found.values())


def test_attributes_of_each_character_and_number_are_those_of_spacy() -> None:
    characters = [
        chr(code) for code in range(0, sys.maxunicode, 101) if not 0xD800 <= code < 0xE000
    ]
    numbers = [*english._num_words, *english._ordinal_words]
    for text in [*map(chr, range(1 << 12)), *characters, *numbers, *map(str.title, numbers)]:
        assert _attributes(QUICK, text) == _attributes(PLAIN, text)


def test_slow_functions_are_replaced_and_give_the_same() -> None:
    plain, quick = _getters("en")
    replaced = (getter for attribute, getter in plain.items() if quick[attribute] is not getter)
    tests = "alpha ascii bracket currency digit left_punct lower punct quote right_punct space"
    expected = {f"is_{name}" for name in (*tests.split(), "title", "upper")}
    names = {getattr(getter, "__name__", None) for getter in replaced}  # others are partial
    assert names - {None} == {*expected, "lower", "like_email", "like_num", "like_url"}
    for text in ["ten", "Tent", "21st", "a@b.co", "a.co", "http://x", *'($" .', "a1", "Ab"]:
        assert _attributes(quick, text) == _attributes(plain, text)


def test_slow_functions_are_not_asked_about_plain_words() -> None:
    asked: list[str] = []
    numbers = _number(asked.append, {"ten"})
    assert [numbers(text) for text in ("Ten", "tent")] == [True, False]
    assert not _of_marks(asked.append)("a1")
    assert not _with_mark("@", asked.append)("a.b")
    assert asked == []
    numbers("1st"), _of_marks(asked.append)("a-"), _with_mark("@", asked.append)("@")
    _with_mark(".", asked.append, ("http://",))("http://x")
    assert asked == ["1st", "a-", "@", "http://x"]


@pytest.mark.parametrize("language", ["de", "xx", "es"])
def test_functions_of_languages_stay(language: str) -> None:
    plain, quick = _getters(language)
    for text in ["Zehn", "10", "a.b", "x@y.de", "(", "ß"]:
        assert _attributes(quick, text) == _attributes(plain, text)


_READ = """
import pickle, sys
sys.modules["spacy_cascade"] = None  # as where it is not installed
vocab = pickle.load(sys.stdin.buffer).vocab
print([vocab[text].like_num for text in ("ten", "tent")], vocab["a.com"].like_url)
"""


def test_a_pickled_doc_does_not_need_this_package() -> None:
    nlp = spacy.blank("en")
    quicken(nlp.vocab)
    run = [sys.executable, "-c", _READ]
    read = subprocess.run(run, input=pickle.dumps(nlp("a b")), capture_output=True, check=True)
    assert read.stdout.decode().split() == ["[True,", "False]", "True"]
