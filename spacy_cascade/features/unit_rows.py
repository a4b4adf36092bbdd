"""What kernels need of units under a plan: rows of lexeme-level templates, values of units."""

from __future__ import annotations

import numpy as np

from ..numeric.design import BinaryCSR
from ..types import Keys2d
from .plan import Plan
from .slots import Occurrences, slot_rows
from .units import Units

_NO_OCCURRENCES = Occurrences(*(np.zeros(0, dtype=np.int32),) * 3)


def rows_of_slots(plan: Plan, units: Units, begin: int) -> BinaryCSR:
    """Which (lexeme, slot) rows each unit sums, of slots from `begin` on."""
    positions = units.positions
    occurrences = positions.occurrences if plan.looks_at_recurrences else _NO_OCCURRENCES
    line = positions.lexemes, occurrences, positions.long_forms
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
