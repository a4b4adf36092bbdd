"""Attributes of the word: its text, affixes, shape, and what training showed of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np
import regex

from ..errors import TemplateError
from ..types import Keys1d
from .attributes import (
    MANY,
    Attribute,
    Options,
    Representatives,
    TextAttribute,
    WordAttribute,
    Words,
    WordTexts,
    chosen,
    is_plain,
    is_quick,
    numbers,
)
from .resources import SHARES, ResourceSpec, SpanWordCounts, share_text, share_value
from .strings import hash_string, hash_strings

LONGEST = 1000
"""Patterns look at no more of a word: many take quadratic time, and no word of a text is longer."""
SEARCH_SECONDS = 1.0
"""For one pattern in one word, which usually takes microseconds."""
_SHORT = 64
"""In words of so many characters, quick patterns are searched without a limit of time, which takes
a third of the time that a search with one takes."""


class _BuiltIn(TextAttribute):
    """One whose values follow from its name, so that components can share them."""

    @property
    def identity(self) -> Hashable | None:
        # A class of another package may depend on more.
        return (type(self), self.name) if type(self).__module__ == __name__ else None

    def values(self, words: Words, resource: Any) -> Keys1d:
        if len(words.texts) < MANY:
            return super().values(words, resource)
        return self.of_many(WordTexts.of(words.texts))

    def of_many(self, texts: WordTexts) -> Keys1d:
        """The values of so many words that arrays pay, uint64 `[n]`."""
        return hash_strings(map(self.value, texts))


class Bias(_BuiltIn):
    """The same for every unit; it adds nothing to a conjunction."""

    has_place = False

    def value(self, text: str) -> str:
        return "1"

    def values(self, words: Words, resource: Any) -> Keys1d:
        return np.full(len(words.texts), hash_string("1"), dtype=np.uint64)

    def describe(self, text: str, code: int, resource: Any) -> None:
        return None


class Word(_BuiltIn):
    is_set_at_boundary = True

    def value(self, text: str) -> str:
        return text

    def of_many(self, texts: WordTexts) -> Keys1d:
        return texts.utf8.of_texts()


class Lower(Word):
    def value(self, text: str) -> str:
        return text.lower()

    def of_many(self, texts: WordTexts) -> Keys1d:
        return texts.lower


class Length(_BuiltIn):
    def value(self, text: str) -> str:
        return str(len(text))

    def of_many(self, texts: WordTexts) -> Keys1d:
        lengths, numbers = np.unique(list(map(len, texts)), return_inverse=True)
        return hash_strings(map(str, lengths.tolist()))[numbers]


def _character_class(character: str) -> str:
    if character.isdigit():
        return "0"
    if character.isupper():
        return "A"
    return "a" if character.isalpha() else "_"


class _Classes(dict[int, str]):
    """Classes by code point, for `str.translate`."""

    def __missing__(self, code: int) -> str:
        return _character_class(chr(code))


_CLASSES = _Classes({code: _character_class(chr(code)) for code in range(128)})


class Class(_BuiltIn):
    """Capital -> A, other letter -> a, digit -> 0, all else -> _ (docs/method.md, section 7.4)."""

    def value(self, text: str) -> str:
        return text.translate(_CLASSES)

    def of_many(self, texts: WordTexts) -> Keys1d:
        return texts.translated(_CLASSES).of_texts()


class BriefClass(Class):
    """The word class with runs collapsed: `NF-kappa` -> `A_a`."""

    def value(self, text: str) -> str:
        return "".join(character for character, _ in groupby(super().value(text)))

    def of_many(self, texts: WordTexts) -> Keys1d:
        return texts.translated(_CLASSES).collapsed().of_texts()


class Affix(_BuiltIn):
    """`prefix(n)` or `suffix(n)`: the first or last `n` characters of words that have as many."""

    def __init__(self, name: str, n: int) -> None:
        super().__init__(f"{name}({n})")
        self._n, self._is_prefix = n, name == "prefix"

    @classmethod
    def expand(cls, name: str, argument: str | None, options: Options) -> Iterable[Attribute]:
        lengths = numbers(argument or "")
        if min(lengths) < 1:
            raise TemplateError("an affix has 1 character or more.")
        return [cls(name, n) for n in lengths]

    def value(self, text: str) -> str | None:
        if len(text) < self._n:
            return None
        return text[: self._n] if self._is_prefix else text[-self._n :]

    def of_many(self, texts: WordTexts) -> Keys1d:
        utf8 = texts.utf8
        is_long = np.flatnonzero(np.diff(utf8.first) >= self._n)
        start = utf8.first[is_long] if self._is_prefix else utf8.first[is_long + 1] - self._n
        hashes = np.zeros(len(texts), dtype=np.uint64)
        hashes[is_long] = utf8.hashes(start, start + self._n)
        return hashes


class Pattern(_BuiltIn):
    """`yes` where a regular expression is found in the first `LONGEST` characters.

    Raises `TemplateError` for a word on which the search takes longer than `SEARCH_SECONDS`: some
    expressions take time that is exponential in the length of a word.
    """

    def __init__(self, name: str, pattern: str, alike: Representatives | None = None) -> None:
        """alike: characters that are alike for the pattern; None where it tells all apart."""
        super().__init__(name)
        self._pattern, self._alike = regex.compile(pattern), alike
        self._unlimited = _SHORT if is_quick(pattern) else 0

    @property
    def identity(self) -> Hashable | None:
        identity = super().identity
        return identity and (identity, self._pattern)

    @classmethod
    def expand(cls, name: str, argument: str | None, options: Options) -> Iterable[Attribute]:
        names = chosen(argument, "pattern", options.patterns)
        alike = _alike(tuple(options.patterns.values()))
        return [
            cls(f"{name}({key})", pattern, alike if is_plain(pattern) else None)
            for key, pattern in ((key, options.patterns[key]) for key in names)
        ]

    def of_many(self, texts: WordTexts) -> Keys1d:
        if self._alike is None:
            return super().of_many(texts)
        shapes, numbers = texts.shapes(self._alike, LONGEST)
        search, value = self._pattern.search, self.value
        short = self._unlimited
        found = [(search if len(shape) <= short else value)(shape) for shape in shapes]
        is_found = np.array([each is not None for each in found])
        values: Keys1d = np.where(is_found, np.uint64(hash_string("yes")), np.uint64(0))
        return values[numbers]

    def value(self, text: str) -> str | None:
        if len(text) <= self._unlimited:
            return "yes" if self._pattern.search(text) else None
        try:
            match = self._pattern.search(text[:LONGEST], timeout=SEARCH_SECONDS)
        except TimeoutError:
            raise TemplateError(
                f"The search for {self.name} takes more than {SEARCH_SECONDS:g} seconds in the "
                f"word {text[:50]!r} ({len(text):,} characters). Change its regular expression, "
                f"{self._pattern.pattern!r}: repetitions within repetitions, such as '(a+)+', "
                "take most time."
            ) from None
        return "yes" if match else None


@lru_cache(maxsize=64)
def _alike(patterns: tuple[str, ...]) -> Representatives:
    """One for all patterns of a set, so that shapes are found once."""
    return Representatives(filter(is_plain, patterns))


class Share(WordAttribute):
    """The share of a word's occurrences in training that stood inside a span (`SpanWordCounts`)."""

    reads = ("lower",)

    def __init__(self, name: str) -> None:
        super().__init__(name, ResourceSpec(SpanWordCounts, "evidence"))
        self._share = SHARES.index(name)

    def values(self, words: Words, resource: Any) -> Keys1d:
        distinct, inverse = np.unique(np.asarray(words.codes), return_inverse=True)
        values = hash_strings(share_value(code, self._share) for code in distinct.tolist())
        return np.asarray(values[inverse])

    def describe(self, text: str, code: int, resource: Any) -> str:
        return share_text(code, self._share)
