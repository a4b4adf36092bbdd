"""Names of features, such as `word@-1=binds`.

A model keeps keys of features, not names. Names are made from a text that has the features: keys
tell which features a unit has, and templates tell which values a key was made of.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..numeric.csr import BinaryCSR
from ..types import Bools1d, Keys2d, Pointers1d
from .attributes import Attribute, PlacedAttribute, TextOf, WordAttribute
from .lexemes import BOUNDARY
from .space import FeatureSpace
from .templates import ALL, ANY, FIRST, LAST, UNIT, Part, Template
from .units import Units, values_of_units

BOUNDARY_TEXT = "<boundary>"
"""Stands for the word before and after every sequence."""


@dataclass(frozen=True)
class NamedFeature:
    """A feature that a unit has; number: its row of the weights; template: its name, no values."""

    number: int
    name: str
    template: str


def named_features(space: FeatureSpace, units: Units, text_of: TextOf) -> list[list[NamedFeature]]:
    """Known features of each unit, as often as they count; text_of: of labels and tags, too."""
    namer = Namer(space, units, text_of, values_of_units(space.plan, units))
    namer.look_up(space.plan.unit_templates, space.unit_keys(units))
    by_lexeme, unit_level = space.unit_lexemes(units), space.unit_features(units)
    named = []
    for unit in range(len(units.first)):
        rows = by_lexeme.indices[by_lexeme.indptr[unit] : by_lexeme.indptr[unit + 1]]
        named_rows = [feature for row in rows.tolist() for feature in namer.of_row(row)]
        numbers = unit_level.indices[unit_level.indptr[unit] : unit_level.indptr[unit + 1]]
        named.append(named_rows + namer.of_unit(unit, numbers.tolist()))
    return named


def find_names(
    space: FeatureSpace, units: Units, text_of: TextOf, wanted: Collection[int]
) -> dict[int, str]:
    """Names of those of the wanted features that the units have."""
    is_wanted = np.zeros(len(space), dtype=np.bool_)
    is_wanted[list(wanted)] = True
    having = first_having(space.design(units).active_features(), is_wanted)
    return names_among(named_features(space, units.take(having), text_of), is_wanted)


def names_among(named: Iterable[list[NamedFeature]], is_wanted: Bools1d) -> dict[int, str]:
    """Names of those features that are wanted, by their numbers."""
    return {
        feature.number: feature.name
        for of_unit in named
        for feature in of_unit
        if is_wanted[feature.number]
    }


def first_having(features: BinaryCSR, is_wanted: Bools1d) -> Pointers1d:
    """For each wanted feature the first row that has it, without repeats."""
    places = np.flatnonzero(is_wanted[features.indices])
    _, first = np.unique(features.indices[places], return_index=True)
    return np.unique(np.searchsorted(features.indptr, places[first], side="right") - 1)


class Namer:
    """Names features of units; of_units: values of the units themselves, uint64 `[U, D]`."""

    def __init__(
        self, space: FeatureSpace, units: Units, text_of: TextOf, of_units: Keys2d
    ) -> None:
        self._space, self._units, self._text_of = space, units, text_of
        templates = space.templates.expanded()
        anchors = {part.anchor for template in templates for part in template.parts}
        self._is_of_spans = bool(anchors & {LAST, ANY, ALL})
        self._rows: dict[int, list[NamedFeature]] = {}
        self._of_spans: list[Attribute] = [*space.plan.of_spans, *space.plan.lengths]
        self._of_units = of_units

    def look_up(self, templates: Sequence[Template], keys: Keys2d) -> None:
        """Be told the unit-level templates, and their keys for each unit `[U, templates]`."""
        self._templates, self._numbers = templates, self._space.index.lookup(keys)
        anchors = {part.anchor for template in templates for part in template.parts}
        self._is_of_spans |= bool(anchors & {LAST, ANY, ALL})

    def of_row(self, row: int) -> list[NamedFeature]:
        """Features of a (lexeme, slot) row."""
        if row not in self._rows:
            plan = self._space.plan
            lexeme, slot = divmod(row, plan.n_slots)
            attributes = self._units.positions.table.attributes[lexeme : lexeme + 1]
            (numbers,) = self._space.index.lookup(self._space.lexeme_keys(attributes)).tolist()
            templates = range(*plan.slot_start[slot : slot + 2])
            parts = [(j, plan.lexeme_templates[j].parts[0]) for j in templates if numbers[j] >= 0]
            self._rows[row] = [
                NamedFeature(
                    numbers[j],
                    self._named(part, self._of_lexeme(part.attribute, lexeme)),
                    self._place(part),
                )
                for j, part in parts
            ]
        return self._rows[row]

    def of_unit(self, unit: int, numbers: list[int]) -> list[NamedFeature]:
        """The unit-level features of a unit, by their numbers."""
        template_of = {number: j for j, number in enumerate(self._numbers[unit].tolist())}
        templates = [self._templates[template_of[number]] for number in numbers]
        return [
            NamedFeature(number, self._unit_name(template, unit), self._template_name(template))
            for number, template in zip(numbers, templates, strict=True)
        ]

    def _unit_name(self, template: Template, unit: int) -> str:
        return " & ".join(self._named(part, self._value(part, unit)) for part in template.parts)

    def _template_name(self, template: Template) -> str:
        return " & ".join(map(self._place, template.parts))

    def _named(self, part: Part, value: str | None) -> str:
        return self._place(part) if value is None else f"{self._place(part)}={value}"

    def _place(self, part: Part) -> str:
        """The part as the template language has it; a token needs no `first`."""
        if part.anchor == FIRST and not self._is_of_spans:
            return f"{part.attribute}@{part.offset}" if part.offset else str(part.attribute)
        return part.text.removesuffix("+0")

    def _value(self, part: Part, unit: int) -> str | None:
        """What a part of a unit-level template sees."""
        attribute = part.attribute
        first, last = int(self._units.first[unit]), int(self._units.last[unit])
        if part.anchor == UNIT:
            if isinstance(attribute, WordAttribute):
                return self._of_lexeme(attribute, int(self._units.positions.lexemes[first]))
            column = self._of_spans.index(attribute)
            return self._described(attribute, int(self._of_units[unit, column]))
        begin = last if part.anchor == LAST else first
        end = first if part.anchor == FIRST else last
        positions = range(begin + part.offset, end + part.offset + 1)
        return " ".join(str(self._at(attribute, position)) for position in positions)

    def _at(self, attribute: Attribute, position: int) -> str | None:
        plan, positions = self._space.plan, self._units.positions
        if isinstance(attribute, WordAttribute):
            return self._of_lexeme(attribute, int(positions.lexemes[position]))
        column = plan.n_unit_attributes + plan.placed.index(attribute.name)
        values = positions.values
        return self._described(attribute, int(values.of_rows[values.row[position], column]))

    def _of_lexeme(self, attribute: Attribute, lexeme: int) -> str | None:
        if lexeme == BOUNDARY:
            return BOUNDARY_TEXT
        assert isinstance(attribute, WordAttribute)
        return self._units.positions.table.describe(attribute, lexeme, self._text_of)

    def _described(self, attribute: Attribute, value: int) -> str:
        assert isinstance(attribute, PlacedAttribute)
        resource = self._space.resources.of(attribute.spec)
        return attribute.describe(value, self._text_of, resource)
