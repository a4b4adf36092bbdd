"""A template set as arrays that kernels can follow.

Templates divide in two. *Lexeme-level* ones are a function of one word: their features are kept
for each (lexeme, slot), a slot being a place such as `first-1`. *Unit-level* ones, conjunctions
and whatever depends on the token's place in its Doc, are looked up for each unit. A unit is a
span of tokens; on a chain, one token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from ..types import Ints1d, Keys1d
from .attributes import Attribute, ContextAttribute, LengthAttribute, TokenAttribute, WordAttribute
from .span_context import SpanContext
from .strings import hash_string
from .templates import (
    FIRST,
    HEAD_RECURRENCE,
    LAST,
    LONG_FORM,
    LONG_FORM_LAST,
    RECURRENCE,
    UNIT,
    Part,
    Template,
    Templates,
)

Kind = TypeVar("Kind", bound=Attribute)


class Slots(NamedTuple):
    """The places of lexeme-level templates: anchor and offset, int32 `[n_slots]`.

    offsets: int32 `[R]`, those of places where words occur again. recurrence: number among them,
    int32 `[n_slots]`, -1 for other places.
    """

    anchor: Ints1d
    offset: Ints1d
    recurrence: Ints1d
    offsets: Ints1d


class UnitLevelTemplates(NamedTuple):
    """Unit-level templates for kernels.

    salt: uint64 `[n]`. first_part: int32 `[n + 1]`. For each part: anchor, offset, column, int32.
    A column is one of the unit's values where the anchor is `UNIT`, else one of a position's
    values. first_parent: int32 `[n + 1]`, parent: the templates, earlier in the list, whose parts
    are some of the parts of this one.
    """

    salt: Keys1d
    first_part: Ints1d
    column: Ints1d
    anchor: Ints1d
    offset: Ints1d
    first_parent: Ints1d
    parent: Ints1d


class PairTemplates(NamedTuple):
    """Unit-level templates that look at two neighbouring words and at nothing else, for kernels.

    anchor, offset: int32 `[G]`, where the first word stands. begin: int32 `[G + 1]`: the templates
    `begin[g] <= j < begin[g + 1]` of `level` look at the words of group `g`.
    """

    anchor: Ints1d
    offset: Ints1d
    begin: Ints1d
    level: UnitLevelTemplates


@dataclass(frozen=True)
class Plan:
    """What to compute for words, positions and units (built by `make_plan`).

    attributes: of the word, those that unit-level templates read first.
    n_unit_attributes: how many of them unit-level templates read.
    of_tokens: of the token in its Doc. Values of a position are those of its word, then these.
    of_spans, lengths: of the span. Values of a unit are those of `of_spans`, then `lengths`.
    context: those of `of_spans` with the resources that they read, for `SpanContext.values`.
    column: where the value of each attribute stands, among those of a position or of a unit.
    slots, slot_start: places of lexeme-level templates; template `j` belongs to slot `s` when
        `slot_start[s] <= j < slot_start[s + 1]`.
    n_slots, n_edge_slots: how many slots there are, and how many come first that look at one token:
        the first or last one of the unit, or one a few places beside it.
    lexeme_templates, lexeme_attribute, lexeme_salt: the lexeme-level templates, ordered by slot.
    unit_templates, unit_level: the unit-level templates, and the same for kernels.
    pairs, unpaired: those that look at two neighbouring words, whose scores can be kept, and the
        rest of them.
    units_have_context: whether a template of units, not only of wholes, reads one of `of_spans`.
    follows_links: whether some place is what another token stands for, such as `@long_form`.
    margin: positions that must exist before and after every sequence.
    """

    attributes: tuple[WordAttribute, ...]
    n_unit_attributes: int
    of_tokens: tuple[TokenAttribute, ...]
    of_spans: tuple[ContextAttribute, ...]
    lengths: tuple[LengthAttribute, ...]
    slots: Slots
    n_slots: int
    n_edge_slots: int
    slot_start: Ints1d
    lexeme_templates: tuple[Template, ...]
    lexeme_attribute: Ints1d
    lexeme_salt: Keys1d
    unit_templates: tuple[Template, ...]
    unit_level: UnitLevelTemplates
    pairs: PairTemplates
    unpaired: UnitLevelTemplates
    units_have_context: bool
    follows_links: bool
    margin: int
    column: Mapping[Attribute, int]
    context: tuple[Callable[[SpanContext], Keys1d], ...] = ()

    @property
    def placed(self) -> tuple[str, ...]:
        """Names of the attributes of tokens, such as `tag`, `lexicon(NAME)` and `span(KEY)`."""
        return tuple(attribute.name for attribute in self.of_tokens)

    @property
    def all_attributes(self) -> tuple[Attribute, ...]:
        """Of words, tokens, spans and lengths, each once."""
        return (*self.attributes, *self.of_tokens, *self.of_spans, *self.lengths)

    def for_kernels(self, templates: Sequence[Template], prefix: str) -> UnitLevelTemplates:
        """Templates of wholes as kernels take them; prefix: tells their features from others."""
        return _for_kernels(templates, self.column, _salts(templates, prefix))


def make_plan(templates: Templates, of_wholes: Sequence[Template] = ()) -> Plan:
    """Sort the templates into lexeme-level and unit-level ones and number what they read.

    of_wholes: those of more than units, all unit-level; what they read gets a number, too.
    """
    expanded = templates.expanded()
    lexeme_level = [template for template in expanded if template.is_lexeme_level]
    of_lexemes = [template.parts[0].attribute for template in lexeme_level]
    places = sorted({template.place for template in lexeme_level})
    slot_of = {place: slot for slot, place in enumerate(places)}
    lexeme_level.sort(key=lambda template: slot_of[template.place])
    per_slot = np.bincount([slot_of[t.place] for t in lexeme_level], minlength=len(places))
    unit_level = by_size(t for t in expanded if not t.is_lexeme_level)
    read = [p.attribute for t in (*unit_level, *of_wholes) for p in t.parts if _adds_something(p)]
    of_units = _distinct(a for a in read if isinstance(a, WordAttribute))
    of_tokens = _distinct(a for a in read if isinstance(a, TokenAttribute))
    of_spans = _distinct(a for a in read if isinstance(a, ContextAttribute))
    lengths = _distinct(a for a in read if isinstance(a, LengthAttribute))
    attributes = _distinct([*of_units, *(a for a in of_lexemes if isinstance(a, WordAttribute))])
    column: dict[Attribute, int] = {}
    for group in ([*of_units, *of_tokens], [*of_spans, *lengths]):
        column.update((attribute, i) for i, attribute in enumerate(group))
    pairs, unpaired = _divide(unit_level)
    return Plan(
        attributes=attributes,
        n_unit_attributes=len(of_units),
        of_tokens=of_tokens,
        of_spans=of_spans,
        lengths=lengths,
        slots=_slots(places),
        n_slots=len(places),
        n_edge_slots=sum(anchor in (FIRST, LAST) for anchor, _ in places),
        slot_start=_ints(np.cumsum([0, *per_slot])),
        lexeme_templates=tuple(lexeme_level),
        lexeme_attribute=_ints([attributes.index(t.parts[0].attribute) for t in lexeme_level]),
        lexeme_salt=_salts(lexeme_level),
        unit_templates=tuple(unit_level),
        unit_level=_for_kernels(unit_level, column, _salts(unit_level)),
        pairs=_pairs_for_kernels(pairs, column),
        unpaired=_for_kernels(unpaired, column, _salts(unpaired)),
        units_have_context=any(
            isinstance(p.attribute, ContextAttribute) for t in unit_level for p in t.parts
        ),
        follows_links=any(anchor in (LONG_FORM, LONG_FORM_LAST) for anchor, _ in places),
        margin=max((abs(p.offset) for t in (*expanded, *of_wholes) for p in t.parts), default=0)
        or 1,
        column=column,
    )


def _slots(places: Sequence[tuple[int, int]]) -> Slots:
    anchor, offset = np.array(places, dtype=np.int32).reshape(-1, 2).T.copy()
    recurs = np.isin(anchor, (RECURRENCE, HEAD_RECURRENCE))
    offsets = np.unique(offset[recurs])
    recurrence = np.where(recurs, np.searchsorted(offsets, offset), -1)
    return Slots(anchor, offset, recurrence.astype(np.int32), offsets)


def by_size(templates: Iterable[Template]) -> list[Template]:
    """Conjunctions after their parts."""
    return sorted(templates, key=lambda template: len(template.parts))


_Windows = dict[tuple[int, int], list[Template]]
"""Templates by anchor and offset of the first of the two words that they look at."""


def _divide(templates: Sequence[Template]) -> tuple[_Windows, list[Template]]:
    """Those that look at two neighbouring words alone, and the others with their parents."""
    others = [template for template in templates if _window(template) is None]
    pairs: _Windows = {}
    for template in templates:
        window = _window(template)
        if window is None:
            continue
        if any(set(template.parts) < set(other.parts) for other in others):
            others.append(template)
        else:
            pairs.setdefault(window, []).append(template)
    return pairs, by_size(others)


def _window(template: Template) -> tuple[int, int] | None:
    anchors = {part.anchor for part in template.parts}
    offsets = sorted({part.offset for part in template.parts})
    is_of_words = all(isinstance(part.attribute, WordAttribute) for part in template.parts)
    if not is_of_words or not anchors <= {FIRST, LAST} or len(anchors) != 1 or len(offsets) != 2:
        return None
    return (anchors.pop(), offsets[0]) if offsets[1] == offsets[0] + 1 else None


def _pairs_for_kernels(pairs: _Windows, column: Mapping[Attribute, int]) -> PairTemplates:
    templates = [template for group in pairs.values() for template in group]
    return PairTemplates(
        _ints([anchor for anchor, _ in pairs]),
        _ints([offset for _, offset in pairs]),
        _ints(np.cumsum([0, *map(len, pairs.values())])),
        _for_kernels(templates, column, _salts(templates)),
    )


def _for_kernels(
    templates: Sequence[Template], column: Mapping[Attribute, int], salts: Keys1d
) -> UnitLevelTemplates:
    """Unit-level templates as arrays; column: where the value of each attribute stands."""
    parts = [list(filter(_adds_something, template.parts)) for template in templates]
    flat = [part for of_template in parts for part in of_template]
    return UnitLevelTemplates(
        salts,
        _ints(np.cumsum([0, *map(len, parts)])),
        _ints([column[part.attribute] for part in flat]),
        _ints([part.anchor for part in flat]),
        _ints([part.offset for part in flat]),
        *_parents(templates),
    )


def _adds_something(part: Part) -> bool:
    """Whether it is not the bias, which adds nothing to a conjunction."""
    return part.anchor != UNIT or not isinstance(part.attribute, WordAttribute)


def _distinct(attributes: Iterable[Kind]) -> tuple[Kind, ...]:
    return tuple(dict.fromkeys(attributes))


def _salts(templates: Sequence[Template], prefix: str = "") -> Keys1d:
    """What keys of features begin with; prefix: tells templates of wholes from the others."""
    return np.array([hash_string(f"{prefix}{t}") or 1 for t in templates], dtype=np.uint64)


def _parents(templates: Sequence[Template]) -> tuple[Ints1d, Ints1d]:
    """For each template the number of those whose parts are some of its own."""
    parents = [
        [i for i, other in enumerate(templates) if set(other.parts) < set(template.parts)]
        for template in templates
    ]
    first = _ints(np.cumsum([0, *map(len, parents)]))
    return first, _ints([i for of_template in parents for i in of_template])


def _ints(values: object) -> Ints1d:
    return np.array(values, dtype=np.int32)
