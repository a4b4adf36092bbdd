"""Feature keys of lexemes and units, and the known features of units as sparse rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import helper, inlined, kernel
from ..numeric.hashing import HashTable, mix, probe
from ..types import Ints1d, Keys1d, Keys2d, Pointers1d
from .plan import UnitLevelTemplates
from .templates import FIRST, LAST, UNIT


class PositionValues(NamedTuple):
    """What unit-level templates read of positions: `of_rows[row[position], column]`, 0 for none.

    of_rows: uint64 `[V, C]`. row: int32 `[P]`. Rows are those of words where nothing else is read,
    so that no position has a copy.
    """

    of_rows: Keys2d
    row: Ints1d


@kernel
def lexeme_level_keys(attributes: Keys2d, attribute: Ints1d, salt: Keys1d) -> Keys2d:
    """`key[l, j] = mix(salt[j], attributes[l, attribute[j]])`, 0 where there is no value."""
    keys = np.zeros((len(attributes), len(salt)), dtype=np.uint64)
    for row in range(len(attributes)):
        for j in range(len(salt)):
            value = attributes[row, attribute[j]]
            if value != 0:
                keys[row, j] = mix(salt[j], value)
    return keys


@inlined
def unit_level_key(templates, j, values, of_unit, unit, first, last):  # type: ignore[no-untyped-def]
    """Key of template `j` for the unit from position `first` to `last`.

    The template's salt mixed with the value of each part in turn; 0 where one has none.
    """
    key = templates.salt[j]
    for p in range(templates.first_part[j], templates.first_part[j + 1]):
        column, anchor = templates.column[p], templates.anchor[p]
        if anchor == UNIT:
            if of_unit[unit, column] == 0:
                return np.uint64(0)
            key = mix(key, of_unit[unit, column])
            continue
        begin = last if anchor == LAST else first
        end = first if anchor == FIRST else last
        for position in range(begin + templates.offset[p], end + templates.offset[p] + 1):
            value = values.of_rows[values.row[position], column]
            if value == 0:
                return np.uint64(0)
            key = mix(key, value)
    return key


@kernel
def unit_level_keys(
    templates: UnitLevelTemplates,
    values: PositionValues,
    of_unit: Keys2d,
    first: Ints1d,
    last: Ints1d,
) -> Keys2d:
    """Keys of the unit-level templates of units, uint64 `[U, n]`; 0 where a part has no value.

    of_unit `[U, D]`: attributes of each unit. first, last `[U]`: first and last position of each.
    """
    keys = np.empty((len(first), len(templates.salt)), dtype=np.uint64)
    for unit in range(len(first)):
        for j in range(len(templates.salt)):
            keys[unit, j] = unit_level_key(
                templates, j, values, of_unit, unit, first[unit], last[unit]
            )
    return keys


BLOCK = 64
"""Units that are taken at once.

Within a block one template comes after the other. First come all keys, then all searches: they do
not depend on each other, so the processor waits for many places of the table at once.
"""


@helper
def find_features(table, templates, begin, end, values, of_unit, first, last, units, keys, ids):  # type: ignore[no-untyped-def]
    """Write the numbers of the features of units to `ids` `[templates, B]`, -1 where unknown.

    Of templates `begin <= j < end`. A template is looked up only where all templates with some of
    its parts have been found: a conjunction is never more frequent than its parts. values, of_unit,
    first, last: as for `unit_level_keys`. units: int32 `[n]`, which ones. keys: room,
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
                if ids[parent, i] < 0:
                    keys[j, i] = 0
        for i in range(n):
            ids[j, i] = table.places[probe(table, keys[j, i])] if keys[j, i] != 0 else -1


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

    values, of_unit, first, last: as for `unit_level_keys`.
    """
    n_templates = len(templates.salt)
    starts = np.zeros(len(first) + 1, dtype=np.int64)
    columns = np.empty(len(first) * n_templates, dtype=np.int32)
    keys = np.empty((n_templates, BLOCK), dtype=np.uint64)
    ids = np.empty((n_templates, BLOCK), dtype=np.int32)
    units = np.arange(len(first), dtype=np.int32)
    size, start = 0, np.int64(0)  # a constant would be compiled apart
    for begin in range(0, len(first), BLOCK):
        block = units[begin : begin + BLOCK]
        find_features(
            table, templates, start, n_templates, values, of_unit, first, last, block, keys, ids
        )
        for i in range(len(block)):
            for j in range(n_templates):
                if ids[j, i] >= 0:
                    columns[size] = ids[j, i]
                    size += 1
            starts[block[i] + 1] = size
    return starts, columns[:size].copy()
