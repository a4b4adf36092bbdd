r"""The template language.

A template names what a feature looks at; each distinct value seen in training becomes
one atomic feature. Parts joined by ` & ` make a conjunction:

    word@-2..2                   five templates: the words at offsets -2 to 2
    word@-1 & word@0             a bigram
    prefix(1..5)                 five templates on the token itself
    pattern(*)@-1..1             every named pattern at three offsets
    lexicon(genes) & tag@1       membership in a term list, with the next token's tag
    lexicon_exact(genes)         the same, where case counts
    span(chunks)@-1 & span(chunks)  tags of spans that an earlier component found
    word@first-1                 the word before a span
    word@any                     each word inside the span, by itself
    word@all                     all words of the span in order, as one value
    lower@sentence               each word of the sentence outside the span
    lower@again+1                each word that follows the same span elsewhere in the Doc, in
                                 whatever case
    brief_class@again            the last token of the same span elsewhere in the Doc
    lower@head_again-1           each word before another occurrence of the last token
    seen_inside@-1..1            how often training showed the word inside a span
    size & suffix(3)@last        the number of tokens with the last token's suffix

    template  = part { " & " part }
    part      = attribute [ "(" argument ")" ] [ "@" place ]
    place     = ("first" | "last") [offset] | offset | ("again" | "head_again") [offset]
              | "any" | "all" | "sentence"
    attribute = word | lower | length | class | brief_class | prefix | suffix | pattern
              | seen_inside | seen_first | seen_last | seen_continued
              | lexicon | lexicon_exact | tag | pos | span | size | bias
              | brackets | elsewhere | type_elsewhere | type_before | gap_before
              | type_after | gap_after

A number can be a range `a..b`, which stands for one template for each number. On a
chain each token is a span of length one, so `first` and `last` mean the token itself.
Without a place a part looks at offset 0 from the first token.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from ..errors import TemplateError
from . import attributes
from .terms import Source
from .word_counts import SHARES

FIRST, LAST, ANY, ALL, UNIT, SENTENCE, AGAIN, HEAD_AGAIN = range(8)
"""Where a part looks: from the first or last token, at any or all inside, at none, …"""

_ANCHORS = {
    "first": FIRST,
    "last": LAST,
    "any": ANY,
    "all": ALL,
    "sentence": SENTENCE,
    "again": AGAIN,
    "head_again": HEAD_AGAIN,
}
MULTIPLE = (ANY, SENTENCE, AGAIN, HEAD_AGAIN)
"""Places that can hold several tokens, each of which gives a feature of its own."""
_ANCHOR_NAMES = {anchor: name for name, anchor in _ANCHORS.items()}
LEXICON_FORMS: Mapping[str, Callable[[str], str]] = {"lexicon": str.lower, "lexicon_exact": str}
"""Attributes for membership in a lexicon, and what of a token they compare."""
PLACED = ("tag", "pos", *LEXICON_FORMS, "span")
"""Attributes that belong to a token in its Doc, not to its text."""
SPAN_CONTEXT = (
    "brackets",
    "elsewhere",
    "type_elsewhere",
    "type_before",
    "gap_before",
    "type_after",
    "gap_after",
)
"""Attributes of a span among the others of its Doc (`features.context`)."""
_UNIT = ("size", "bias", *SPAN_CONTEXT)
_PART = re.compile(
    r"(?P<name>[a-z_]+)(?:\((?P<argument>[^()]*)\))?(?:@(?=.)(?P<anchor>first|last|any|all|sentence|again|head_again)?"
    r"(?P<offset>[+-]?\d+(?:\.\.[+-]?\d+)?)?)?"
)
MAXIMUM_OFFSET = 16


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """One look: `attribute` (with its argument, such as `prefix(3)`) at a place."""

    attribute: str
    anchor: int
    offset: int

    def __str__(self) -> str:
        if self.anchor == UNIT:
            return self.attribute
        if self.anchor in (ANY, ALL, SENTENCE):
            return f"{self.attribute}@{_ANCHOR_NAMES[self.anchor]}"
        return f"{self.attribute}@{_ANCHOR_NAMES[self.anchor]}{self.offset:+d}"


@dataclass(frozen=True, slots=True)
class Template:
    """A conjunction of parts; a single part is an atomic template."""

    parts: tuple[Part, ...]

    def __str__(self) -> str:
        return " & ".join(map(str, self.parts))

    @property
    def by_lexeme(self) -> bool:
        """Whether it is a function of one word, so that scores factor over lexemes."""
        part = self.parts[0]
        if len(self.parts) > 1 or part.attribute.split("(")[0] in PLACED:
            return False
        return part.anchor in (FIRST, LAST, *MULTIPLE) or part.attribute == "bias"

    @property
    def place(self) -> tuple[int, int]:
        """Anchor and offset of the word that a factored template is a function of."""
        part = self.parts[0]
        # Any word has the bias; the first one is there in every unit.
        return (FIRST, 0) if part.anchor == UNIT else (part.anchor, part.offset)


@dataclass(frozen=True)
class Templates:
    """A template set as the config states it.

    templates: lines of the template language.
    patterns: regular expressions by name, searched anywhere in a word.
    lexicons: term lists by name (`features.terms`); the longest term is matched first.

    Raises `TemplateError` for anything that does not parse, naming the template.
    """

    templates: tuple[str, ...]
    patterns: Mapping[str, str]
    lexicons: Mapping[str, Source]

    def __post_init__(self) -> None:
        for name, pattern in self.patterns.items():
            try:
                re.compile(pattern)
            except re.error as error:
                raise TemplateError(
                    f"The pattern '{name}' is not a regular expression: {error} in {pattern!r}. "
                    "Mend it under [components.*.model.templates.patterns]."
                ) from None
        self.expanded()

    def expanded(self) -> list[Template]:
        """All templates with their ranges written out, without repeats, in order."""
        found = {
            str(template): template
            for line in self.templates
            for template in _expand(line, self.patterns, self.lexicons)
        }
        if not found:
            raise TemplateError("A template set needs at least one template, such as 'word@0'.")
        return list(found.values())

    def text_function(self, attribute: str) -> attributes.TextFunction:
        """The function behind an attribute of a parsed part, such as `prefix(3)`."""
        name, _, argument = attribute.removesuffix(")").partition("(")
        if name == "bias":
            return attributes.constant
        if name in attributes.AFFIXES:
            return attributes.affix(name, int(argument))
        if name == "pattern":
            return attributes.regex(self.patterns[argument])
        return attributes.PLAIN[name]


def argument_of(attribute: str) -> str:
    """What stands in the brackets of an attribute, such as `genes` in `lexicon(genes)`."""
    return attribute.partition("(")[2].removesuffix(")")


def _expand(
    line: str, patterns: Mapping[str, str], lexicons: Mapping[str, object]
) -> Iterator[Template]:
    choices = [list(_parts(line, text, patterns, lexicons)) for text in line.split("&")]
    for parts in product(*choices):
        several = [part for part in parts if part.anchor in MULTIPLE]
        if len(parts) > 1 and several:
            raise TemplateError(
                f"In the template '{line}': '@{_ANCHOR_NAMES[several[0].anchor]}' gives many "
                "values and cannot be part of a conjunction. Use '@first', '@last' or '@all'."
            )
        yield Template(parts)


def _parts(
    line: str, text: str, patterns: Mapping[str, str], lexicons: Mapping[str, object]
) -> Iterator[Part]:
    found = _PART.fullmatch(text.strip())
    if found is None:
        raise TemplateError(
            f"In the template '{line}': cannot read '{text.strip()}'. A part looks like "
            "'word@-1', 'prefix(1..3)', 'pattern(NAME)@last' or 'word@any'."
        )
    name, argument = found["name"], found["argument"]
    anchor = _ANCHORS[found["anchor"] or "first"]
    names = _attribute_names(line, name, argument, patterns, lexicons)
    if name in _UNIT:
        if "@" in text:
            raise TemplateError(f"In the template '{line}': '{name}' has no place; remove '@'.")
        yield Part(name, UNIT, 0)
        return
    if found["offset"] and anchor in (ANY, ALL, SENTENCE):
        raise TemplateError(f"In the template '{line}': '@{found['anchor']}' takes no offset.")
    if name in PLACED and anchor not in (FIRST, LAST):
        raise TemplateError(
            f"In the template '{line}': '{name}' can be seen from '@first' and '@last' only."
        )
    for attribute, offset in product(names, _numbers(line, found["offset"] or "0")):
        if abs(offset) > MAXIMUM_OFFSET:
            raise TemplateError(
                f"In the template '{line}': the offset {offset} is too far; "
                f"the furthest is {MAXIMUM_OFFSET}."
            )
        yield Part(attribute, anchor, offset)


def _attribute_names(
    line: str,
    name: str,
    argument: str | None,
    patterns: Mapping[str, str],
    lexicons: Mapping[str, object],
) -> list[str]:
    if name in attributes.AFFIXES:
        lengths = _numbers(line, argument or "")
        if min(lengths) < 1:
            raise TemplateError(f"In the template '{line}': an affix has 1 character or more.")
        return [f"{name}({n})" for n in lengths]
    if name == "span":
        if not argument:
            raise TemplateError(
                f"In the template '{line}': 'span' needs the key of a span group, as in "
                "'span(chunks)'."
            )
        return [f"span({argument})"]
    tables = {"pattern": patterns, **dict.fromkeys(LEXICON_FORMS, lexicons)}
    if name in tables:
        if argument == "*":
            return [f"{name}({key})" for key in tables[name]]
        if argument not in tables[name]:
            kind = name.removesuffix("_exact")
            raise TemplateError(
                f"In the template '{line}': there is no {kind} '{argument}'. "
                f"Known: {', '.join(tables[name]) or 'none'}; add it under '{kind}s'."
            )
        return [f"{name}({argument})"]
    plain = [*attributes.PLAIN, *SHARES, *PLACED, *_UNIT]
    if name not in plain:
        known = [*plain, *attributes.AFFIXES, "pattern"]
        raise TemplateError(
            f"In the template '{line}': unknown attribute '{name}'. Known: {', '.join(known)}."
        )
    if argument is not None:
        raise TemplateError(f"In the template '{line}': '{name}' takes no argument.")
    return [name]


def _numbers(line: str, text: str) -> range:
    low, dots, high = text.partition("..")
    try:
        numbers = range(int(low), int(high if dots else low) + 1)
    except ValueError:
        raise TemplateError(
            f"In the template '{line}': expected a number or a range such as '1..5', not '{text}'."
        ) from None
    if not numbers:
        raise TemplateError(f"In the template '{line}': the range '{text}' is empty.")
    return numbers
