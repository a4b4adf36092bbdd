"""Feature keys of lexemes and units."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import inlined, kernel
from ..numeric.hashing import mix
from ..types import Ints1d, Keys1d, Keys2d
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
