r"""The template language; docs/templates.md describes all attributes and places.

A template names what a feature looks at; each distinct value seen in training becomes
one atomic feature. Parts joined by ` & ` make a conjunction:

    word@-2..2                   five templates: the words at offsets -2 to 2
    word@-1 & word@0             a bigram
    pattern(*)@first-1           every named pattern, for the word before a span
    lower@recurrence+1           each word that follows the same span elsewhere in the Doc
    size & suffix(3)@last        the number of tokens with the last token's suffix

    template  = part { " & " part }
    part      = attribute [ "(" argument ")" ] [ "@" place ]
    place     = ("first" | "last") [offset] | offset
              | ("recurrence" | "head_recurrence") [offset] | "any" | "all" | "sentence"
              | "long_form" | "long_form_last"

The attributes are those of `registry`. A number can be a range `a..b`: one template for each. On a
chain each token is a span of length one, so `first` and `last` mean the token itself. Without a
place a part looks at offset 0 from the first token.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

import regex

from ..caching import cached_property
from ..errors import TemplateError
from .attributes import Attribute, TokenAttribute, WordAttribute, numbers
from .registry import attribute_class

FIRST, LAST, ANY, ALL, UNIT, SENTENCE, RECURRENCE, HEAD_RECURRENCE, LONG_FORM, LONG_FORM_LAST = (
    range(10)
)
"""Where a part looks: from the first or last token, at any or all inside, at none, …"""

_ANCHORS = {
    "first": FIRST, "last": LAST, "any": ANY, "all": ALL, "sentence": SENTENCE,
    "recurrence": RECURRENCE, "head_recurrence": HEAD_RECURRENCE,
    "long_form": LONG_FORM, "long_form_last": LONG_FORM_LAST,
}  # fmt: skip
MULTIPLE = (ANY, SENTENCE, RECURRENCE, HEAD_RECURRENCE, LONG_FORM, LONG_FORM_LAST)
"""Places that can hold several tokens, each of which gives a feature of its own."""
_WITHOUT_OFFSET = (ANY, ALL, SENTENCE, LONG_FORM, LONG_FORM_LAST)
_ANCHOR_NAMES = {anchor: name for name, anchor in _ANCHORS.items()}
_SALTS = _ANCHOR_NAMES | {RECURRENCE: "again", HEAD_RECURRENCE: "head_again"}
"""Keys of features are salted with these: other ones would order equally frequent features anew."""
_PART = re.compile(
    r"(?P<name>[a-z_][a-z0-9_]*)(?:\((?P<argument>[^()]*)\))?"
    rf"(?:@(?=.)(?P<anchor>{'|'.join(_ANCHORS)})?"
    r"(?P<offset>[+-]?\d+(?:\.\.[+-]?\d+)?)?)?"
)
MAXIMUM_OFFSET = 16
MOST_TEMPLATES = 10_000
"""Of a set, ranges written out. A config that asks for more would fill the memory."""


@dataclass(frozen=True, slots=True)
class Part:
    """One look: an attribute at a place."""

    attribute: Attribute
    anchor: int
    offset: int

    def __str__(self) -> str:
        return self._text(_SALTS)

    @property
    def text(self) -> str:
        """The part as readers write it."""
        return self._text(_ANCHOR_NAMES)

    def _text(self, names: Mapping[int, str]) -> str:
        if self.anchor == UNIT:
            return self.attribute.name
        offset = "" if self.anchor in _WITHOUT_OFFSET else f"{self.offset:+d}"
        return f"{self.attribute}@{names[self.anchor]}{offset}"


@dataclass(frozen=True, slots=True)
class Template:
    """A conjunction of parts; a single part is an atomic template.

    As a string it is what keys of features are salted with and what saved models hold. `text` is
    the template as readers write it.
    """

    parts: tuple[Part, ...]

    def __str__(self) -> str:
        return " & ".join(map(str, self.parts))

    @property
    def text(self) -> str:
        """As it is written in a config."""
        return " & ".join(part.text for part in self.parts)

    @property
    def is_lexeme_level(self) -> bool:
        """Whether it is a function of one word, so that scores factor over lexemes."""
        part = self.parts[0]
        is_word = len(self.parts) == 1 and isinstance(part.attribute, WordAttribute)
        return is_word and part.anchor != ALL

    @property
    def place(self) -> tuple[int, int]:
        """Anchor and offset of the word that a lexeme-level template is a function of."""
        part = self.parts[0]
        # Any word has the bias; the first one is there in every unit.
        return (FIRST, 0) if part.anchor == UNIT else (part.anchor, part.offset)


@dataclass(frozen=True)
class Templates:
    """A template set as the config states it.

    templates: lines of the template language. patterns: regular expressions by name, searched
    anywhere in a word. lexicons: term lists by name (`systems.dictionaries.terms`); the longest
    term is matched first. words: tables of words by name (`systems.words.sources`). resources:
    settings of further resources by name, for attributes of other packages.

    Raises `TemplateError` for anything that does not parse, naming the template.
    """

    templates: tuple[str, ...]
    patterns: Mapping[str, str]
    lexicons: Mapping[str, Any]
    resources: Mapping[str, Any] = field(default_factory=dict)
    words: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, pattern in self.patterns.items():
            try:
                regex.compile(pattern)
            except regex.error as error:
                raise TemplateError(
                    f"The pattern '{name}' is not a regular expression: {error} in {pattern!r}. "
                    "Mend it under [components.*.model.templates.patterns]."
                ) from None
        self._parsed  # noqa: B018 (so that errors are raised now)

    def expanded(self) -> list[Template]:
        """All templates with their ranges written out, without repeats, in order."""
        return list(self._parsed)

    @cached_property
    def _parsed(self) -> tuple[Template, ...]:
        expanded: dict[str, Template] = {}
        for line in self.templates:
            expanded.update((str(template), template) for template in self._of(line))
            if len(expanded) > MOST_TEMPLATES:
                raise TemplateError(
                    f"A template set has {MOST_TEMPLATES:,} templates at most, ranges written out. "
                    f"With '{line}' there are more. Narrow its ranges, or leave lines out."
                )
        if not expanded:
            raise TemplateError("A template set needs at least one template, such as 'word@0'.")
        return tuple(expanded.values())

    def _of(self, line: str) -> Iterator[Template]:
        try:
            choices = [list(self._parts(text.strip())) for text in line.split("&")]
            if prod(map(len, choices)) > MOST_TEMPLATES:
                raise TemplateError(f"it stands for more than {MOST_TEMPLATES:,} templates.")
            for parts in product(*choices):
                several = [part for part in parts if part.anchor in MULTIPLE]
                if len(parts) > 1 and several:
                    raise TemplateError(
                        f"'@{_ANCHOR_NAMES[several[0].anchor]}' gives many values and cannot be "
                        "part of a conjunction. Use '@first', '@last' or '@all'."
                    )
                yield Template(parts)
        except TemplateError as error:
            raise TemplateError(f"In the template '{line}': {error}") from None

    def _parts(self, text: str) -> Iterator[Part]:
        match = _PART.fullmatch(text)
        if match is None:
            raise TemplateError(
                f"cannot read '{text}'. A part looks like 'word@-1', 'prefix(1..3)', "
                "'pattern(NAME)@last' or 'word@any'."
            )
        name, place = match["name"], match["anchor"] or "first"
        kind, anchor = attribute_class(name), _ANCHORS[place]
        attributes = list(kind.expand(name, match["argument"], self))
        if not kind.has_place:
            if "@" in text:
                raise TemplateError(f"'{name}' has no place; remove '@'.")
            yield from (Part(attribute, UNIT, 0) for attribute in attributes)
            return
        if match["offset"] and anchor in _WITHOUT_OFFSET:
            raise TemplateError(f"'@{place}' takes no offset.")
        if issubclass(kind, TokenAttribute) and anchor not in (FIRST, LAST):
            raise TemplateError(f"'{name}' can be seen from '@first' and '@last' only.")
        for attribute, offset in product(attributes, numbers(match["offset"] or "0")):
            if abs(offset) > MAXIMUM_OFFSET:
                raise TemplateError(
                    f"the offset {offset} is too far; the furthest is {MAXIMUM_OFFSET}."
                )
            yield Part(attribute, anchor, offset)
