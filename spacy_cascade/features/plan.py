"""A template set as arrays that kernels can follow.

Templates divide in two. *Factored* ones are a function of one word: their features
are kept for each (lexeme, slot), a slot being a place such as `first-1`. *Direct* ones,
conjunctions and whatever depends on the token's place in its Doc, are looked up for each
unit. A unit is a span of tokens; on a chain, one token.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..types import Ints1d, Keys1d
from .strings import hash_string
from .templates import AGAIN, HEAD_AGAIN, PLACED, SPAN_CONTEXT, UNIT, Part, Template, Templates

SIZE, _BIAS, CONTEXT = -1, -2, -3
_UNIT_COLUMNS = {"size": SIZE, "bias": _BIAS}
"""Parts of the unit itself are told apart by the sign; from `CONTEXT` downwards its context."""


class Slots(NamedTuple):
    """The places of factored templates: anchor and offset, int32 `[n_slots]`."""

    anchor: Ints1d
    offset: Ints1d


class UnitLevelTemplates(NamedTuple):
    """Direct templates for kernels.

    salt: uint64 `[n]`. first_part: int32 `[n + 1]`. For each part: column, anchor, offset,
    int32; columns are first attributes of the lexeme, then those of the position.
    first_parent: int32 `[n + 1]`, parent: the templates, earlier in the list, whose parts
    are some of the parts of this one.
    """

    salt: Keys1d
    first_part: Ints1d
    column: Ints1d
    anchor: Ints1d
    offset: Ints1d
    first_parent: Ints1d
    parent: Ints1d


@dataclass(frozen=True)
class Plan:
    """What to compute for words, positions and units (built by `make_plan`).

    attributes: lexeme attributes, those that direct templates read first.
    n_unit_attributes: how many of them direct templates read.
    placed: position attributes (`tag`, `pos`, `lexicon(NAME)`, `span(KEY)`).
    context: attributes of a span's surroundings (`features.context`).
    slots, slot_end: places of factored templates; template `j` belongs to slot `s` when
        `slot_end[s - 1] <= j < slot_end[s]`.
    lexeme_templates, lexeme_attribute, lexeme_salt: the factored templates, ordered by slot.
    unit_templates, direct: the direct templates, and the same for kernels.
    margin: positions that must exist before and after every sequence.
    """

    attributes: tuple[str, ...]
    n_unit_attributes: int
    placed: tuple[str, ...]
    context: tuple[str, ...]
    slots: Slots
    slot_end: Ints1d
    lexeme_templates: tuple[Template, ...]
    lexeme_attribute: Ints1d
    lexeme_salt: Keys1d
    unit_templates: tuple[Template, ...]
    unit_level: UnitLevelTemplates
    margin: int

    @property
    def n_slots(self) -> int:
        """Number of places of factored templates."""
        return len(self.slots.anchor)

    @property
    def looks_again(self) -> bool:
        """Whether some place is one where the words of a unit stand again."""
        return bool(np.isin(self.slots.anchor, (AGAIN, HEAD_AGAIN)).any())


def make_plan(templates: Templates) -> Plan:
    """Sort the templates into factored and direct ones and number what they read."""
    expanded = templates.expanded()
    factored = [template for template in expanded if template.by_lexeme]
    direct = sorted(
        (template for template in expanded if not template.by_lexeme), key=lambda t: len(t.parts)
    )
    placed = _distinct(part.attribute for t in direct for part in t.parts if _is_placed(part))
    direct_attributes = _distinct(
        part.attribute
        for t in direct
        for part in t.parts
        if part.anchor != UNIT and not _is_placed(part)
    )
    factored_attributes = _distinct(t.parts[0].attribute for t in factored)
    attributes = _distinct([*direct_attributes, *factored_attributes])
    context = _distinct(p.attribute for t in direct for p in t.parts if p.attribute in SPAN_CONTEXT)
    places = sorted({template.place for template in factored})
    slot_of = {place: slot for slot, place in enumerate(places)}
    factored.sort(key=lambda template: slot_of[template.place])
    counts = np.zeros(len(places), dtype=np.int32)
    for template in factored:
        counts[slot_of[template.place]] += 1
    return Plan(
        attributes=attributes,
        n_unit_attributes=len(direct_attributes),
        placed=placed,
        context=context,
        slots=Slots(*(np.array(c, dtype=np.int32) for c in _columns(places, 2))),
        slot_end=np.cumsum(counts, dtype=np.int32),
        lexeme_templates=tuple(factored),
        lexeme_attribute=np.array(
            [attributes.index(t.parts[0].attribute) for t in factored], dtype=np.int32
        ),
        lexeme_salt=np.array([_salt(t) for t in factored], dtype=np.uint64),
        unit_templates=tuple(direct),
        unit_level=_direct_arrays(direct, direct_attributes, placed, context),
        margin=max((abs(p.offset) for t in expanded for p in t.parts), default=0) or 1,
    )


def _is_placed(part: Part) -> bool:
    return part.attribute.split("(")[0] in PLACED


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _columns(rows: list[tuple[int, int]], n: int) -> list[list[int]]:
    return [[row[i] for row in rows] for i in range(n)]


def _salt(template: Template) -> int:
    return hash_string(str(template)) or 1


def _direct_arrays(
    direct: list[Template],
    attributes: tuple[str, ...],
    placed: tuple[str, ...],
    context: tuple[str, ...],
) -> UnitLevelTemplates:
    columns = {name: i for i, name in enumerate([*attributes, *placed])}
    of_units = _UNIT_COLUMNS | {name: CONTEXT - i for i, name in enumerate(context)}
    flat = [part for template in direct for part in template.parts]
    parents = [
        [i for i, other in enumerate(direct) if set(other.parts) < set(template.parts)]
        for template in direct
    ]
    return UnitLevelTemplates(
        salt=np.array([_salt(t) for t in direct], dtype=np.uint64),
        first_part=np.cumsum([0, *(len(t.parts) for t in direct)]).astype(np.int32),
        column=np.array(
            [of_units[p.attribute] if p.anchor == UNIT else columns[p.attribute] for p in flat],
            dtype=np.int32,
        ),
        anchor=np.array([p.anchor for p in flat], dtype=np.int32),
        offset=np.array([p.offset for p in flat], dtype=np.int32),
        first_parent=np.cumsum([0, *map(len, parents)]).astype(np.int32),
        parent=np.array([p for found in parents for p in found], dtype=np.int32),
    )
