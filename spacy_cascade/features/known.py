"""The known unit-level features of units as sparse rows.

Units are taken in blocks, and within a block one template after the other. First come all keys,
then all searches: they do not depend on each other, so the processor waits for many places of the
table at once.
"""

from __future__ import annotations

import numpy as np

from ..jit import inlined, kernel
from ..numeric.hashing import HashTable, probe
from ..types import Ints1d, Keys2d, Pointers1d
from .keys import unit_level_key
from .plan import UnitLevelTemplates

_BLOCK = 64


@inlined
def _find(table, templates, values, of_unit, first, last, begin, end, keys, found):  # type: ignore[no-untyped-def]
    """Write the numbers of the features of units `begin <= u < end` to `found` `[templates, B]`.

    -1 where a feature is unknown. A template is looked up only where all templates with some of its
    parts have been found: a conjunction is never more frequent than its parts. keys: room,
    `[templates, B]`.
    """
    n = end - begin
    for j in range(len(templates.salt)):
        for i in range(n):
            unit = begin + i
            keys[j, i] = unit_level_key(
                templates, j, values, of_unit, unit, first[unit], last[unit]
            )
    for j in range(len(templates.salt)):
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
    values: Keys2d,
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
    keys = np.empty((n_templates, _BLOCK), dtype=np.uint64)
    found = np.empty((n_templates, _BLOCK), dtype=np.int32)
    size = 0
    for begin in range(0, len(first), _BLOCK):
        end = min(begin + _BLOCK, len(first))
        _find(table, templates, values, of_unit, first, last, begin, end, keys, found)
        for unit in range(begin, end):
            for j in range(n_templates):
                if found[j, unit - begin] >= 0:
                    columns[size] = found[j, unit - begin]
                    size += 1
            starts[unit + 1] = size
    return starts, columns[:size].copy()
