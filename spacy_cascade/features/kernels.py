"""Feature keys of lexemes and units, and their ids as sparse rows."""

from __future__ import annotations

import numpy as np
from numba import njit

from ..inference.hashing import mix
from ..types import Ints1d, Ints2d, Keys1d, Keys2d, Pointers1d
from .plan import DirectTemplates, Slots
from .templates import ALL, ANY, LAST, UNIT

_LAST, _ANY, _ALL, _UNIT = LAST, ANY, ALL, UNIT


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


@njit(nogil=True, cache=True)
def direct_keys(
    templates: DirectTemplates,
    lexemes: Ints1d,
    attributes: Keys2d,
    placed: Keys2d,
    first: Ints1d,
    last: Ints1d,
) -> Keys2d:
    """Keys of the direct templates of units, uint64 `[U, n]`; 0 where a part has no value.

    lexemes `[P]`: word of each position; attributes `[n_lexemes, A]`; placed `[P, B]`.
    first, last `[U]`: first and last position of each unit. A key mixes the template's
    salt with the value of each part in turn.
    """
    keys = np.zeros((len(first), len(templates.salt)), dtype=np.uint64)
    n_lexeme_columns = templates.n_lexeme_columns
    for unit in range(len(first)):
        for j in range(len(templates.salt)):
            key = templates.salt[j]
            for p in range(templates.first_part[j], templates.first_part[j + 1]):
                column, anchor = templates.column[p], templates.anchor[p]
                if anchor == _UNIT:
                    if column == -1:
                        key = mix(key, np.uint64(last[unit] - first[unit] + 1))
                    continue
                begin = end = first[unit]
                if anchor == _LAST:
                    begin = end = last[unit]
                elif anchor == _ALL:
                    end = last[unit]
                for position in range(begin + templates.offset[p], end + templates.offset[p] + 1):
                    if column < n_lexeme_columns:
                        value = attributes[lexemes[position], column]
                    else:
                        value = placed[position, column - n_lexeme_columns]
                    if value == 0:
                        key = np.uint64(0)
                        break
                    key = mix(key, value)
                if key == 0:
                    break
            keys[unit, j] = key
    return keys


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
