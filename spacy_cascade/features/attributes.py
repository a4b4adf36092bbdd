"""Atomic attributes of a token: what a template can look at.

An attribute is a function of the token's own text, so it is computed once for each
distinct word and never again. It returns a string, or None where it says nothing.
`tag`, `pos` and lexicon membership depend on the token's place and are read from the
Doc instead (`features.sequences`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

LONGEST = 1000
"""Patterns look at no more of a word: many take quadratic time, and no word of a text is longer."""

TextFunction: TypeAlias = Callable[[str], str | None]


def constant(_: str) -> str:
    """The same for every word."""
    return "1"


def word(text: str) -> str:
    """The text itself."""
    return text


def lower(text: str) -> str:
    """The text in lower case."""
    return text.lower()


def length(text: str) -> str:
    """Number of characters."""
    return str(len(text))


def prefix(text: str, n: int) -> str | None:
    """The first `n` characters; None for shorter words."""
    return text[:n] if len(text) >= n else None


def suffix(text: str, n: int) -> str | None:
    """The last `n` characters; None for shorter words."""
    return text[-n:] if len(text) >= n else None


def _character_class(character: str) -> str:
    if character.isdigit():
        return "0"
    if character.isupper():
        return "A"
    return "a" if character.isalpha() else "_"


_ASCII_CLASS = {code: _character_class(chr(code)) for code in range(128)}


def word_class(text: str) -> str:
    """Capital -> A, other letter -> a, digit -> 0, anything else -> _ (METHOD.md, Features)."""
    if text.isascii():
        return text.translate(_ASCII_CLASS)
    return "".join(map(_character_class, text))


def brief_word_class(text: str) -> str:
    """The word class with runs collapsed: `NF-kappa` -> `A_a`."""
    brief = last = ""
    for character in word_class(text):
        if character != last:
            brief += character
            last = character
    return brief


def match(pattern: re.Pattern[str], text: str) -> str | None:
    """`yes` where the regular expression is found anywhere in the first `LONGEST` characters."""
    return "yes" if pattern.search(text[:LONGEST]) else None


PLAIN: dict[str, TextFunction] = {
    "word": word,
    "lower": lower,
    "length": length,
    "class": word_class,
    "brief_class": brief_word_class,
}
"""Attributes without an argument, by the name that templates use."""

AFFIXES = {"prefix": prefix, "suffix": suffix}
"""Attributes with a number of characters as argument."""


def affix(name: str, n: int) -> TextFunction:
    """`prefix` or `suffix` of `n` characters as a function of the text alone."""
    return partial(AFFIXES[name], n=n)


def regex(pattern: str) -> TextFunction:
    """A regular expression as a function of the text alone.

    Raises `re.error` where the expression does not compile.
    """
    return partial(match, re.compile(pattern))
