"""Feature keys of lexemes and units, and their ids as sparse rows."""

from __future__ import annotations

import numpy as np
from numba import njit

from ..inference.hashing import mix, probe
from ..types import Ints1d, Ints2d, Keys1d, Keys2d, Pointers1d
from .plan import SIZE, DirectTemplates, Slots
from .templates import ANY, FIRST, LAST, UNIT

_FIRST, _LAST, _ANY, _UNIT = FIRST, LAST, ANY, UNIT


@njit(nogil=True, cache=True)
def factored_keys(attributes: Keys2d, attribute: Ints1d, salt: Keys1d) -> Keys2d:
    """`key[l, j] = mix(salt[j], attributes[l, attribute[j]])`, 0 where there is no value."""
    keys = np.zeros((len(attributes), len(salt)), dtype=np.uint64)
    for row in range(len(attributes)):
        for j in range(len(salt)):
            value = attributes[row, attribute[j]]
            if value != 0:
                keys[row, j] = mix(salt[j], value)
    return keys


@njit(nogil=True, cache=True, inline="always")
def _direct_key(templates, j, values, first, last):  # type: ignore[no-untyped-def]
    """Key of template `j` for the unit from position `first` to `last`.

    The template's salt mixed with the value of each part in turn; 0 where one has none.
    """
    key = templates.salt[j]
    for p in range(templates.first_part[j], templates.first_part[j + 1]):
        column, anchor = templates.column[p], templates.anchor[p]
        if anchor == _UNIT:
            if column == SIZE:
                key = mix(key, np.uint64(last - first + 1))
            continue
        begin = last if anchor == _LAST else first
        end = first if anchor == _FIRST else last
        for position in range(begin + templates.offset[p], end + templates.offset[p] + 1):
            if values[position, column] == 0:
                return np.uint64(0)
            key = mix(key, values[position, column])
    return key


@njit(nogil=True, cache=True)
def direct_keys(
    templates: DirectTemplates,
    values: Keys2d,
    first: Ints1d,
    last: Ints1d,
) -> Keys2d:
    """Keys of the direct templates of units, uint64 `[U, n]`; 0 where a part has no value.

    values `[P, C]`: attributes of each position. first, last `[U]`: first and last
    position of each unit.
    """
    keys = np.empty((len(first), len(templates.salt)), dtype=np.uint64)
    for unit in range(len(first)):
        for j in range(len(templates.salt)):
            keys[unit, j] = _direct_key(templates, j, values, first[unit], last[unit])
    return keys


@njit(nogil=True, cache=True)
def direct_features(
    table: Ints1d,
    keys: Keys1d,
    templates: DirectTemplates,
    values: Keys2d,
    first: Ints1d,
    last: Ints1d,
) -> tuple[Pointers1d, Ints1d]:
    """Sparse rows of the known direct features of units; table and keys as in `hashing.probe`.

    A template is looked up only where all templates with a part of its parts have been
    found: what is seen often enough has parts that are seen often enough.
    """
    n_templates = len(templates.salt)
    starts = np.zeros(len(first) + 1, dtype=np.int64)
    columns = np.empty(len(first) * n_templates, dtype=np.int32)
    found = np.empty(n_templates, dtype=np.int32)
    size = 0
    for unit in range(len(first)):
        for j in range(n_templates):
            possible = True
            for k in range(templates.first_parent[j], templates.first_parent[j + 1]):
                possible &= found[templates.parent[k]] >= 0
            found[j] = -1
            if possible:
                key = _direct_key(templates, j, values, first[unit], last[unit])
                if key != 0:
                    found[j] = table[probe(table, keys, key)]
            if found[j] >= 0:
                columns[size] = found[j]
                size += 1
        starts[unit + 1] = size
    return starts, columns[:size].copy()


@njit(nogil=True, cache=True)
def known_features(ids: Ints2d, group_end: Ints1d) -> tuple[Pointers1d, Ints1d]:
    """Sparse rows of the ids that are not -1, one row for each (line, group of columns).

    ids `[N, M]`; group `g` is the columns `group_end[g - 1]:group_end[g]`. Row `n * G + g`.
    """
    n_groups = len(group_end)
    starts = np.zeros(len(ids) * n_groups + 1, dtype=np.int64)
    columns = np.empty(ids.size, dtype=np.int32)
    size = 0
    for n in range(len(ids)):
        column = 0
        for g in range(n_groups):
            while column < group_end[g]:
                if ids[n, column] >= 0:
                    columns[size] = ids[n, column]
                    size += 1
                column += 1
            starts[n * n_groups + g + 1] = size
    return starts, columns[:size].copy()


@njit(nogil=True, cache=True)
def slot_rows(
    slots: Slots, lexemes: Ints1d, first: Ints1d, last: Ints1d
) -> tuple[Pointers1d, Ints1d]:
    """Sparse rows of units: which (lexeme, slot) rows make up each unit's score.

    Row `lexeme * n_slots + slot`; `any` slots contribute one for each token inside.
    """
    n_slots = len(slots.anchor)
    n_any = 0
    for s in range(n_slots):
        n_any += slots.anchor[s] == _ANY
    starts = np.zeros(len(first) + 1, dtype=np.int64)
    for unit in range(len(first)):
        inside = last[unit] - first[unit] + 1
        starts[unit + 1] = starts[unit] + n_slots - n_any + n_any * inside
    columns = np.empty(starts[-1], dtype=np.int32)
    for unit in range(len(first)):
        j = starts[unit]
        for s in range(n_slots):
            begin = end = first[unit]
            if slots.anchor[s] == _LAST:
                begin = end = last[unit]
            elif slots.anchor[s] == _ANY:
                end = last[unit]
            for position in range(begin + slots.offset[s], end + slots.offset[s] + 1):
                columns[j] = lexemes[position] * n_slots + s
                j += 1
    return starts, columns
