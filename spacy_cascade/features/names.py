"""Names of features, such as `word@-1=binds`.

A model keeps keys of features, not names. So names are made anew from a text that has the
features: which of them a unit has is known by its keys, and the templates say which values a
key was made of.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from .keys import lexeme_level_keys, unit_level_keys
from .lexemes import BOUNDARY
from .space import FeatureSpace, TextOf
from .span_context import value_text
from .templates import ALL, ANY, FIRST, LAST, SPAN_CONTEXT, UNIT, Part, Template
from .units import Units
from .word_counts import SHARES, share_text

BOUNDARY_TEXT = "<boundary>"
"""Stands for the word before and after every sequence."""


@dataclass(frozen=True)
class NamedFeature:
    """A feature that a unit has; number: its row of the weights."""

    number: int
    name: str


def named_features(space: FeatureSpace, units: Units, text_of: TextOf) -> list[list[NamedFeature]]:
    """The known features of each unit, each as often as it counts.

    text_of: also of labels and tags that templates look at.
    """
    namer = _Namer(space, units, text_of)
    by_lexeme, direct = space.unit_lexemes(units), space.unit_features(units)
    named = []
    for unit in range(len(units.first)):
        rows = by_lexeme.columns[by_lexeme.starts[unit] : by_lexeme.starts[unit + 1]]
        found = [feature for row in rows.tolist() for feature in namer.of_row(row)]
        numbers = direct.columns[direct.starts[unit] : direct.starts[unit + 1]]
        named.append(found + namer.direct(unit, numbers.tolist()))
    return named


def find_names(
    space: FeatureSpace, units: Units, text_of: TextOf, wanted: Collection[int]
) -> dict[int, str]:
    """Names of those of the wanted features that the units have."""
    features = space.design(units).active_features()
    is_wanted = np.zeros(len(space), dtype=np.bool_)
    is_wanted[list(wanted)] = True
    places = np.flatnonzero(is_wanted[features.columns])
    _, first = np.unique(features.columns[places], return_index=True)
    having = np.unique(np.searchsorted(features.starts, places[first], side="right") - 1)
    return {
        feature.number: feature.name
        for of_unit in named_features(space, units.take(having), text_of)
        for feature in of_unit
        if is_wanted[feature.number]
    }


class _Namer:
    """Names the features of some units."""

    def __init__(self, space: FeatureSpace, units: Units, text_of: TextOf) -> None:
        self._space, self._units, self._text_of = space, units, text_of
        templates = space.templates.expanded()
        anchors = {part.anchor for template in templates for part in template.parts}
        self._is_of_spans = bool(anchors & {LAST, ANY, ALL})
        self._rows: dict[int, list[NamedFeature]] = {}
        keys = unit_level_keys(
            space.plan.unit_level,
            units.positions.values,
            space.context(units),
            units.first,
            units.last,
        )
        self._direct = space.index.lookup(keys)

    def of_row(self, row: int) -> list[NamedFeature]:
        """Features of a (lexeme, slot) row."""
        if row not in self._rows:
            plan = self._space.plan
            lexeme, slot = divmod(row, plan.n_slots)
            keys = lexeme_level_keys(
                self._units.positions.table.attributes[lexeme : lexeme + 1],
                plan.lexeme_attribute,
                plan.lexeme_salt,
            )
            (numbers,) = self._space.index.lookup(keys).tolist()
            templates = range(plan.slot_end[slot - 1] if slot else 0, plan.slot_end[slot])
            self._rows[row] = [
                NamedFeature(numbers[j], self._factored_name(plan.lexeme_templates[j], lexeme))
                for j in templates
                if numbers[j] >= 0
            ]
        return self._rows[row]

    def direct(self, unit: int, numbers: list[int]) -> list[NamedFeature]:
        """Those of a unit that are not of one lexeme, by their numbers."""
        template_of = {number: j for j, number in enumerate(self._direct[unit].tolist())}
        templates = self._space.plan.unit_templates
        return [
            NamedFeature(number, self._direct_name(templates[template_of[number]], unit))
            for number in numbers
        ]

    def _factored_name(self, template: Template, lexeme: int) -> str:
        (part,) = template.parts
        return self._named(part, self._of_lexeme(part.attribute, lexeme))

    def _direct_name(self, template: Template, unit: int) -> str:
        return " & ".join(self._named(part, self._value(part, unit)) for part in template.parts)

    def _named(self, part: Part, value: str) -> str:
        return self._place(part) if part.attribute == "bias" else f"{self._place(part)}={value}"

    def _place(self, part: Part) -> str:
        """The part as the template language has it; a token needs no `first`."""
        if part.anchor == FIRST and not self._is_of_spans:
            return f"{part.attribute}@{part.offset}" if part.offset else part.attribute
        return str(part).removesuffix("+0")

    def _value(self, part: Part, unit: int) -> str:
        """What a part of a direct template sees."""
        first, last = int(self._units.first[unit]), int(self._units.last[unit])
        if part.anchor == UNIT:
            if part.attribute in SPAN_CONTEXT:
                column = self._space.plan.context.index(part.attribute)
                return value_text(int(self._units.context[unit, column]), self._text_of)
            return str(last - first + 1)
        begin = last if part.anchor == LAST else first
        end = first if part.anchor == FIRST else last
        positions = range(begin + part.offset, end + part.offset + 1)
        return " ".join(self._at(part.attribute, position) for position in positions)

    def _at(self, attribute: str, position: int) -> str:
        """Value of an attribute at a position."""
        plan, positions = self._space.plan, self._units.positions
        if attribute not in plan.placed:
            return self._of_lexeme(attribute, int(positions.lexemes[position]))
        column = plan.n_unit_attributes + plan.placed.index(attribute)
        value = int(positions.values[position, column])
        if attribute in self._space.lexicons:
            return self._space.lexicons[attribute].value_names[value]
        return self._text_of(value)

    def _of_lexeme(self, attribute: str, lexeme: int) -> str:
        if lexeme == BOUNDARY:
            return BOUNDARY_TEXT
        word, code = self._units.positions.table.origins[lexeme].tolist()
        if attribute in SHARES:
            return share_text(code, SHARES.index(attribute))
        return str(self._space.templates.text_function(attribute)(self._text_of(word)))
