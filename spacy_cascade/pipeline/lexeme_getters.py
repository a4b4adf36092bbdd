"""Quicker ways to what spaCy computes of each new word.

For a new word spaCy calls some twenty functions, which take half of the time of a tokenizer that
meets it first. Most of what they ask of a word, plain letters and digits cannot have.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from spacy.attrs import LIKE_NUM
from spacy.lang import lex_attrs
from spacy.lang.en import lex_attrs as english
from spacy.vocab import Vocab

Getter = Callable[[str], Any]

_METHODS: dict[Getter, Getter] = {
    lex_attrs.lower: str.lower,
    lex_attrs.is_alpha: str.isalpha,
    lex_attrs.is_digit: str.isdigit,
    lex_attrs.is_lower: str.islower,
    lex_attrs.is_space: str.isspace,
    lex_attrs.is_title: str.istitle,
    lex_attrs.is_upper: str.isupper,
    lex_attrs.is_ascii: str.isascii,
}
_OF_MARKS: set[Getter] = {
    lex_attrs.is_punct,
    lex_attrs.is_currency,
    lex_attrs.is_bracket,
    lex_attrs.is_quote,
    lex_attrs.is_left_punct,
    lex_attrs.is_right_punct,
}
"""Those that are true of nothing that consists of letters and digits."""

_NUMBERS = "_num_words", "_ordinal_words"
"""spaCy's lists of English words, which it looks through one by one."""


def quicken(vocab: Vocab) -> None:
    """Let a vocabulary compute the same attributes of new words in less time.

    Functions of spaCy's own are replaced; those of languages and of users stay. The new ones are
    made here, so that they are pickled by value: whoever reads a Doc from a pickle may not have
    this package.
    """
    getters: dict[int, Getter] = vocab.lex_attr_getters  # type: ignore[attr-defined]
    for attribute, getter in getters.items():
        if getter in _METHODS:
            getters[attribute] = _METHODS[getter]
        elif getter in _OF_MARKS:
            getters[attribute] = _of_marks(getter)
        elif getter is lex_attrs.like_email:
            getters[attribute] = _with_mark("@", getter)
        elif getter is lex_attrs.like_url:
            getters[attribute] = _with_mark(".", getter, ("http://", "https://"))
    cardinals, ordinals = (getattr(english, name, None) for name in _NUMBERS)
    if cardinals and ordinals and getters.get(LIKE_NUM) is english.like_num:
        getters[LIKE_NUM] = _number(english.like_num, frozenset([*cardinals, *ordinals]))


def _of_marks(getter: Getter) -> Getter:
    return lambda text: not text.isalnum() and getter(text)


def _with_mark(mark: str, getter: Getter, beginnings: tuple[str, ...] = ()) -> Getter:
    return lambda text: (mark in text or text.startswith(beginnings)) and getter(text)


def _number(getter: Getter, words: Collection[str]) -> Getter:
    return lambda text: text.lower() in words if text.isalpha() else getter(text)
