"""Rows of units under a plan: of lexeme-level templates, and of known features."""

from __future__ import annotations

import numpy as np

from ..numeric.design import BinaryCSR
from ..numeric.index import KeyIndex
from ..types import Keys2d
from .known import unit_level_features
from .plan import Plan, UnitLevelTemplates
from .slots import slot_rows
from .units import Units


def rows_of_slots(plan: Plan, units: Units, begin: int) -> BinaryCSR:
    """Which (lexeme, slot) rows each unit sums, of slots from `begin` on."""
    positions = units.positions
    line = positions.lexemes, positions.occurrences, positions.links
    rows = slot_rows(plan.slots, *line, units.first, units.last, begin)
    return BinaryCSR(*rows, len(positions.table) * plan.n_slots)


def values_of_units(plan: Plan, units: Units) -> Keys2d:
    """Values of units, uint64 `[U, D]`: of their context, without any where none was given."""
    shape = (len(units.first), len(plan.of_spans))
    context = units.context
    if context.shape != shape:
        context = np.zeros(shape, dtype=np.uint64)
    lengths = (units.last - units.first + 1).astype(np.uint64)
    return np.column_stack([context, *(each.values(lengths) for each in plan.lengths)])


def known_features(
    index: KeyIndex, plan: Plan, templates: UnitLevelTemplates, units: Units
) -> BinaryCSR:
    """The known features of each unit; templates: of the plan, some of the unit-level ones."""
    values, of_unit = units.positions.values, values_of_units(plan, units)
    indptr, indices = index.apply(
        unit_level_features, templates, values, of_unit, units.first, units.last
    )
    return BinaryCSR(indptr, indices, len(index))
