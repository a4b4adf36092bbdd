"""The known unit-level features of units as sparse rows.

Units are taken in blocks, and within a block one template after the other. First come all keys,
then all searches: they do not depend on each other, so the processor waits for many places of the
table at once.
"""

from __future__ import annotations

import numpy as np

from ..jit import helper, kernel
from ..numeric.hashing import HashTable, probe
from ..types import Ints1d, Keys2d, Pointers1d
from .keys import PositionValues, unit_level_key
from .plan import UnitLevelTemplates

BLOCK = 64


@helper
def find_features(table, templates, begin, end, values, of_unit, first, last, units, keys, found):  # type: ignore[no-untyped-def]
    """Write the numbers of the features of units to `found` `[templates, B]`, -1 where unknown.

    Of templates `begin <= j < end`. A template is looked up only where all templates with some of
    its parts have been found: a conjunction is never more frequent than its parts. values, of_unit,
    first, last: as for `keys.unit_level_keys`. units: int32 `[n]`, which ones. keys: room,
    `[templates, B]`.
    """
    n = len(units)
    for j in range(begin, end):
        for i in range(n):
            unit = units[i]
            keys[j, i] = unit_level_key(
                templates, j, values, of_unit, unit, first[unit], last[unit]
            )
    for j in range(begin, end):
        for k in range(templates.first_parent[j], templates.first_parent[j + 1]):
            parent = templates.parent[k]
            for i in range(n):
                if found[parent, i] < 0:
                    keys[j, i] = 0
        for i in range(n):
            found[j, i] = table.places[probe(table, keys[j, i])] if keys[j, i] != 0 else -1


@kernel
def unit_level_features(
    table: HashTable,
    templates: UnitLevelTemplates,
    values: PositionValues,
    of_unit: Keys2d,
    first: Ints1d,
    last: Ints1d,
) -> tuple[Pointers1d, Ints1d]:
    """Sparse rows of the known unit-level features of units, looked up in the table.

    values, of_unit, first, last: as for `keys.unit_level_keys`.
    """
    n_templates = len(templates.salt)
    starts = np.zeros(len(first) + 1, dtype=np.int64)
    columns = np.empty(len(first) * n_templates, dtype=np.int32)
    keys = np.empty((n_templates, BLOCK), dtype=np.uint64)
    found = np.empty((n_templates, BLOCK), dtype=np.int32)
    units = np.arange(len(first), dtype=np.int32)
    size, start = 0, np.int64(0)  # a constant would be compiled apart
    for begin in range(0, len(first), BLOCK):
        block = units[begin : begin + BLOCK]
        find_features(
            table, templates, start, n_templates, values, of_unit, first, last, block, keys, found
        )
        for i in range(len(block)):
            for j in range(n_templates):
                if found[j, i] >= 0:
                    columns[size] = found[j, i]
                    size += 1
            starts[block[i] + 1] = size
    return starts, columns[:size].copy()
