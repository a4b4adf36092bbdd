"""Attributes: what a template can look at.

There are three kinds, each a base class here: attributes of the word (`WordAttribute`), of the
token in its Doc (`TokenAttribute`), and of the span (`LengthAttribute`, `ContextAttribute`).
Values are 64-bit hashes; 0 means that the attribute says nothing, and then there is no feature.

A new attribute is a subclass in a package of its own, with one entry point in the group
`spacy_cascade_attributes`; or it is registered with `registry.register_attribute("NAME")`. It
cannot have the name of a built-in attribute. Attributes are pickled with their component.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

import numpy as np
import regex

from ..caching import cached_property
from ..errors import TemplateError
from ..types import Ints2d, Keys1d, Pointers1d
from .links import Links
from .resources import Resource, ResourceSpec
from .span_context import SpanContext
from .strings import Utf8, hash_strings
from .tokens import Tokens

TextOf: TypeAlias = Callable[[int], str]
"""Gives the text of a 64-bit hash, as `vocab.strings` does."""


class Options(Protocol):
    """What a template set says besides its templates."""

    @property
    def patterns(self) -> Mapping[str, str]:
        """Regular expressions by name."""

    @property
    def lexicons(self) -> Mapping[str, Any]:
        """Term lists by name."""

    @property
    def words(self) -> Mapping[str, Any]:
        """Tables of words by name."""

    @property
    def resources(self) -> Mapping[str, Any]:
        """Settings of further resources by name."""


class Attribute:
    """One thing to look at, such as `prefix(3)`.

    name: with its argument, as templates have it; it is part of the keys of features. spec: the
    resource that it reads. reads: fields of `Tokens` that it needs besides the words.
    span_groups: keys of the span groups that it needs.
    """

    reads: ClassVar[tuple[str, ...]] = ()
    has_place: ClassVar[bool] = True

    def __init__(self, name: str, spec: ResourceSpec | None = None) -> None:
        self.name, self.spec = name, spec
        self.span_groups: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attribute) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    @classmethod
    def expand(cls, name: str, argument: str | None, options: Options) -> Iterable[Attribute]:
        """The attributes that `name(argument)` stands for; argument: None without brackets.

        Raises `TemplateError` for an argument that is not valid; the parser adds the template.
        """
        if argument is not None:
            raise TemplateError(f"'{name}' takes no argument.")
        return [cls(name)]


class Words(NamedTuple):
    """Words that are new to the table of lexemes.

    texts: `[n]`. codes: uint64 `[n]`, what the attribute's resource says of each
    (`Resource.codes`, `Resource.word_codes`), None where it says nothing.
    """

    texts: Sequence[str]
    codes: Keys1d | None


class WordAttribute(Attribute, ABC):
    """A function of the word, computed once for each distinct word.

    is_set_at_boundary: whether the word before and after every sequence has a value.
    """

    is_set_at_boundary: ClassVar[bool] = False

    @abstractmethod
    def values(self, words: Words, resource: Any) -> Keys1d:
        """Hashes of the values of words, uint64 `[n]`."""

    @abstractmethod
    def describe(self, text: str, code: int, resource: Any) -> str | None:
        """The value of a word for readers; None for an attribute without values.

        code: what the resource says of the token (`Resource.codes`); else the value itself.
        """


class TextAttribute(WordAttribute):
    """A function of nothing but the word's text."""

    @property
    def identity(self) -> Hashable | None:
        """Attributes of the same identity have the same values; None: no other one has them."""
        return None

    @abstractmethod
    def value(self, text: str) -> str | None:
        """The value of a word, None where there is none."""

    def values(self, words: Words, resource: Any) -> Keys1d:
        return hash_strings(map(self.value, words.texts))

    def describe(self, text: str, code: int, resource: Any) -> str | None:
        return str(self.value(text))


class PlacedAttribute(Attribute, ABC):
    """Base of the attributes that depend on more than the word."""

    def describe(self, value: int, text_of: TextOf, resource: Any) -> str:
        """A value for readers."""
        return text_of(value)


class TokenAttribute(PlacedAttribute):
    """Of a token in its Doc; seen from `@first` and `@last` only."""

    @abstractmethod
    def values(self, tokens: Tokens, resource: Any, own_flags: Ints2d | None) -> Keys1d:
        """Values of all tokens, uint64 `[T]`; own_flags: gold flags in training, else None."""


class Linking(Resource):
    """A resource that says which other tokens of its Doc a token stands for."""

    @abstractmethod
    def links(self, tokens: Tokens) -> Links:
        """The links of a batch."""


class LinkingAttribute(TokenAttribute):
    """One whose links the places `@long_form` and `@long_form_last` follow."""

    links: ClassVar[ResourceSpec]


class LengthAttribute(PlacedAttribute):
    """Of a span, a function of its number of tokens."""

    has_place = False

    @abstractmethod
    def values(self, lengths: Keys1d) -> Keys1d:
        """Values of spans with so many tokens, uint64 `[U]`."""

    def describe(self, value: int, text_of: TextOf, resource: Any) -> str:
        return str(value)


class ContextAttribute(PlacedAttribute):
    """Of a span among the others of its Doc, once these have been found (`span_context`)."""

    has_place = False
    reads: ClassVar[tuple[str, ...]] = ("lower",)

    @abstractmethod
    def values(self, spans: SpanContext, resource: Any) -> Keys1d:
        """Values of the spans, uint64 `[U]`."""


MOST_NUMBERS = 1_000
"""Of a range. It is far more than any template needs, and bounds what a config can ask for."""


def numbers(text: str) -> range:
    """The numbers that `3` or `1..5` stands for, `MOST_NUMBERS` at most.

    Raises `TemplateError` for anything else.
    """
    low, dots, high = text.partition("..")
    try:
        listed = range(int(low), int(high if dots else low) + 1)
    except ValueError:
        raise TemplateError(f"expected a number or a range such as '1..5', not '{text}'.") from None
    if not listed:
        raise TemplateError(f"the range '{text}' is empty.")
    if listed[-1] - listed[0] >= MOST_NUMBERS:
        raise TemplateError(f"the range '{text}' has more than {MOST_NUMBERS:,} numbers.")
    return listed


def chosen(
    argument: str | None, kind: str, table: Mapping[str, Any], option: str = ""
) -> list[str]:
    """The names in a table that an argument stands for: one, or all of them for `*`.

    kind: what they are, such as `pattern`. option: of the template set, which has the table, by
    default the plural of their kind. Raises `TemplateError` for a name that is not there.
    """
    if argument == "*":
        return list(table)
    if argument is None or argument not in table:
        raise TemplateError(
            f"there is no {kind} '{argument}'. Known: {', '.join(table) or 'none'}; add it under "
            f"'{option or kind + 's'}'."
        )
    return [argument]


_SEES_MORE = regex.compile(r"\\[0-9A-Za-z]|\(\?(?!:)|\[:|\{[^0-9,}]")
"""What makes a pattern see more of a character than its place among those that are mentioned:
classes such as `\\d`, references, flags, POSIX classes, fuzzy matching."""
_ONE_CHARACTER = regex.compile(r"\\.|\[\^?[^\]]*\]", regex.DOTALL)
"""An escaped character, or a set of characters."""
_PARTS = regex.compile(r"\\.|\[\^?(?:\\.|[^]\\[])+\]|.", regex.DOTALL)
"""The same, or one character, of a pattern that has no sets within sets."""
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
    """One character for all that are alike, by code point, for `str.translate`.

    A regular expression compares a character with sets and with others by themselves: in `[A-Z]`
    all capitals are alike. A *shape* has one character in place of all that are alike for all
    patterns of a template set. A text has far fewer shapes than words, and a pattern is searched
    once for all words of one shape.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        super().__init__()
        patterns = list(patterns)
        # A dot matches all characters but the line feed.
        self._mentioned = sorted({"\n", *(c for pattern in patterns for c in pattern)})
        parts = {"\n", *(part for pattern in patterns for part in _PARTS.findall(pattern))}
        self._sets = [regex.compile(part) for part in parts if len(part) > 2]
        self._alone = {part[-1] for part in parts if len(part) <= 2}
        self._by_sight: dict[tuple[object, ...], str] = {}

    def __missing__(self, code: int) -> str:
        character, mentioned = chr(code), self._mentioned
        place = bisect_left(mentioned, character)
        if mentioned[place : place + 1] != [character]:
            # The first one after the nearest that is mentioned stands for all up to the next.
            character = chr(ord(mentioned[place - 1]) + 1) if place else "\0"
        if "[" not in self._alone:  # else the patterns are not understood
            alone = character if character in self._alone else None
            sight = alone, *(each.match(character) is None for each in self._sets)
            character = self._by_sight.setdefault(sight, character)
        if len(self) < _MOST_KNOWN:
            self[code] = character
        return character


MANY = 192
"""From so many words on, arrays of their characters take less time than strings."""


class WordTexts(list[str]):
    """Texts of words that are new to a table, with what is found in them once."""

    def __init__(self, texts: Iterable[str]) -> None:
        super().__init__(texts)
        self._shapes: dict[int, tuple[list[str], Pointers1d]] = {}

    @classmethod
    def of(cls, texts: Sequence[str]) -> WordTexts:
        """These texts, which may be such already."""
        return texts if isinstance(texts, cls) else cls(texts)

    @cached_property
    def joined(self) -> tuple[str, Pointers1d]:
        """The texts as one, and the first character of each in it, int64 `[n + 1]`."""
        return "".join(self), np.cumsum([0, *map(len, self)])

    @cached_property
    def utf8(self) -> Utf8:
        """The texts as bytes."""
        return Utf8.of(*self.joined)

    @cached_property
    def lower(self) -> Keys1d:
        """Hashes of the texts in lower case, uint64 `[n]`."""
        joined, first = self.joined
        if len(self) < MANY or not joined.isascii():  # others may get longer
            return hash_strings(text.lower() for text in self)
        return Utf8.of(joined.lower(), first).of_texts()

    def translated(self, table: Mapping[int, str]) -> Utf8:
        """The texts with other characters, one for each."""
        joined, first = self.joined
        return Utf8.of(joined.translate(table), first)

    def shapes(self, alike: Representatives, longest: int) -> tuple[list[str], Pointers1d]:
        """The distinct shapes, and the number of that of each text, int64 `[n]`.

        longest: characters of a text that count; the same for all that ask.
        """
        known = self._shapes.get(id(alike))
        if known is None:
            joined, first = self.joined
            shapes, start = joined.translate(alike), first[:-1]
            stop = np.minimum(first[1:], start + longest)
            hashes = Utf8.of(shapes, first).hashes(start, stop)
            _, at, numbers = np.unique(hashes, return_index=True, return_inverse=True)
            bounds = zip(start[at].tolist(), stop[at].tolist(), strict=True)
            known = self._shapes[id(alike)] = [shapes[i:j] for i, j in bounds], numbers
        return known
