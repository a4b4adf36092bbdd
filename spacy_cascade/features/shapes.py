"""Words as patterns see them, so that a pattern is searched once for all words of one shape.

A regular expression mentions some characters, and compares others with these only: in `[A-Z]` all
letters from `B` to `Y` are alike. A *shape* has one character in place of all that are alike for
all patterns of a template set. A text has far fewer shapes than words.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

import numpy as np
import regex

from ..caching import cached_property
from ..types import Pointers1d
from .strings import Utf8

_SEES_MORE = regex.compile(r"\\[0-9A-Za-z]|\(\?(?!:)|\[:|\{[^0-9,}]")
"""What makes a pattern see more of a character than its place among those that are mentioned:
classes such as `\\d`, references, flags, POSIX classes, fuzzy matching."""
_ONE_CHARACTER = regex.compile(r"\\.|\[\^?[^\]]*\]", regex.DOTALL)
"""An escaped character, or a set of characters."""
_REPEATS = regex.compile(r"[*+?{]")
_MOST_REPEATS = 2
_MOST_KNOWN = 4096


def is_plain(pattern: str) -> bool:
    """Whether a pattern compares characters only with those that it mentions."""
    return _SEES_MORE.search(pattern) is None


def is_quick(pattern: str) -> bool:
    """Whether a search takes at most cubic time: two repetitions at most, and no groups."""
    bare = _ONE_CHARACTER.sub("x", pattern)
    return is_plain(pattern) and "(" not in bare and len(_REPEATS.findall(bare)) <= _MOST_REPEATS


class Representatives(dict[int, str]):
    """One character for all that are alike, by code point, for `str.translate`."""

    def __init__(self, patterns: Iterable[str]) -> None:
        super().__init__()
        # A dot matches all characters but the line feed.
        self._mentioned = sorted({"\n", *(c for pattern in patterns for c in pattern)})

    def __missing__(self, code: int) -> str:
        character, mentioned = chr(code), self._mentioned
        place = bisect_left(mentioned, character)
        if mentioned[place : place + 1] != [character]:
            # The first one after the nearest that is mentioned stands for all up to the next.
            character = chr(ord(mentioned[place - 1]) + 1) if place else "\0"
        if len(self) < _MOST_KNOWN:
            self[code] = character
        return character


class WordTexts(list[str]):
    """Texts of words that are new to a table, with what is found in them once."""

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__(texts)
        self._shapes: dict[int, tuple[list[str], Pointers1d]] = {}

    @cached_property
    def utf8(self) -> Utf8:
        """The texts as bytes."""
        return Utf8.of(self)

    def shapes(self, alike: Representatives, longest: int) -> tuple[list[str], Pointers1d]:
        """The distinct shapes, and the number of that of each text, int64 `[n]`.

        longest: characters of a text that count; the same for all that ask.
        """
        known = self._shapes.get(id(alike))
        if known is None:
            numbers: dict[str, int] = {}
            shapes = (text[:longest].translate(alike) for text in self)
            places = [numbers.setdefault(shape, len(numbers)) for shape in shapes]
            known = self._shapes[id(alike)] = list(numbers), np.array(places, dtype=np.int64)
        return known
