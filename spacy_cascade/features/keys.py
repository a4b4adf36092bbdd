"""Feature keys of lexemes and units, and their ids as sparse rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import inlined, kernel
from ..numeric.hashing import HashTable, mix, probe
from ..types import Ints1d, Keys1d, Keys2d, Pointers1d
from .lexemes import BOUNDARY
from .long_forms import LongForms
from .plan import Slots, UnitLevelTemplates
from .templates import (
    ANY,
    FIRST,
    HEAD_RECURRENCE,
    LAST,
    LONG_FORM_LAST,
    RECURRENCE,
    SENTENCE,
    UNIT,
)

MOST_AROUND = 256
MOST_RECURRENCES = 8
MOST_VISITED = 64


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
            if values[position, column] == 0:
                return np.uint64(0)
            key = mix(key, values[position, column])
    return key


@kernel
def unit_level_keys(
    templates: UnitLevelTemplates, values: Keys2d, of_unit: Keys2d, first: Ints1d, last: Ints1d
) -> Keys2d:
    """Keys of the unit-level templates of units, uint64 `[U, n]`; 0 where a part has no value.

    values `[P, C]`: attributes of each position. of_unit `[U, D]`: attributes of each unit. first,
    last `[U]`: first and last position of each unit.
    """
    keys = np.empty((len(first), len(templates.salt)), dtype=np.uint64)
    for unit in range(len(first)):
        for j in range(len(templates.salt)):
            keys[unit, j] = unit_level_key(
                templates, j, values, of_unit, unit, first[unit], last[unit]
            )
    return keys


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

    A template is looked up only where all templates with some of its parts have been found:
    a conjunction is never more frequent than its parts.
    """
    n_templates = len(templates.salt)
    starts = np.zeros(len(first) + 1, dtype=np.int64)
    columns = np.empty(len(first) * n_templates, dtype=np.int32)
    found = np.empty(n_templates, dtype=np.int32)
    unit_keys = np.empty(n_templates, dtype=np.uint64)
    size = 0
    for unit in range(len(first)):
        # All keys first: the processor then waits for several places of the table at once.
        for j in range(n_templates):
            unit_keys[j] = unit_level_key(
                templates, j, values, of_unit, unit, first[unit], last[unit]
            )
        for j in range(n_templates):
            possible = unit_keys[j] != 0
            for k in range(templates.first_parent[j], templates.first_parent[j + 1]):
                possible &= found[templates.parent[k]] >= 0
            found[j] = table.places[probe(table, unit_keys[j])] if possible else -1
            if found[j] >= 0:
                columns[size] = found[j]
                size += 1
        starts[unit + 1] = size
    return starts, columns[:size].copy()


@inlined
def _same_span(forms, first, last, candidate):  # type: ignore[no-untyped-def]
    """Whether the words from `first` to `last` stand also so that they end at `candidate`."""
    same = candidate != last
    for back in range(last - first + 1):
        same &= candidate >= back and forms[candidate - back] == forms[last - back]
        if not same:
            break
    return same


class Occurrences(NamedTuple):
    """Where the word of a position occurs again, int32 `[P]` each.

    forms: number of the word in lower case, by which occurrences are known. earliest: the first
    position in its Doc with the same form. following: the next one, or -1.
    """

    forms: Ints1d
    earliest: Ints1d
    following: Ints1d


@kernel
def link_occurrences(
    lexemes: Ints1d, form_of: Ints1d, doc_starts: Ints1d
) -> tuple[Ints1d, Ints1d, Ints1d]:
    """The `Occurrences` of positions; form_of: for each lexeme the number of its form."""
    forms = np.empty(len(lexemes), dtype=np.int32)
    for position in range(len(lexemes)):
        forms[position] = form_of[lexemes[position]]
    earliest, following = np.empty_like(forms), np.empty_like(forms)
    latest = np.full(forms.max() + 1, -1, dtype=np.int32)
    for doc in range(len(doc_starts) - 1):
        for position in range(doc_starts[doc], doc_starts[doc + 1]):
            before = latest[forms[position]]
            latest[forms[position]] = position
            following[position] = -1
            earliest[position] = position
            if before >= doc_starts[doc]:
                following[before] = position
                earliest[position] = earliest[before]
    return forms, earliest, following


@inlined
def _places_around(lexemes, first, last, places):  # type: ignore[no-untyped-def]
    """Write the positions of the rest of the sentence, nearest first; how many there are."""
    n = 0
    for step, start in ((-1, first - 1), (1, last + 1)):
        position = start
        while n < MOST_AROUND and lexemes[position] != BOUNDARY:
            places[n] = position
            n += 1
            position += step
    return n


@inlined
def _recurrences(lexemes, occurrences, begin, last, offset, places):  # type: ignore[no-untyped-def]
    """Write positions beside the first other occurrences of `begin … last` in the Doc.

    For offset 0 these are the positions of the last words of the occurrences. No two of them have
    the same word. The number of visits does not depend on the length of the Doc.
    """
    n = 0
    position = occurrences.earliest[last]
    for _ in range(MOST_VISITED):
        if position < 0 or n == MOST_RECURRENCES:
            break
        if _same_span(occurrences.forms, begin, last, position):
            place = position + offset if offset >= 0 else position - (last - begin) + offset
            known = False
            for k in range(n):
                known |= lexemes[places[k]] == lexemes[place]
            if not known:
                places[n] = place
                n += 1
        position = occurrences.following[position]
    return n


@inlined
def _abbreviation_in(long_forms, first, last):  # type: ignore[no-untyped-def]
    """Number of the last abbreviation among the positions, -1 for none."""
    number = -1
    if len(long_forms.abbreviation):
        for position in range(last, first - 1, -1):
            number = long_forms.abbreviation[position]
            if number >= 0:
                break
    return number


@kernel
def slot_rows(
    slots: Slots,
    lexemes: Ints1d,
    occurrences: Occurrences,
    long_forms: LongForms,
    first: Ints1d,
    last: Ints1d,
) -> tuple[Pointers1d, Ints1d]:
    """Sparse rows of units: which (lexeme, slot) rows make up each unit's score.

    Row `lexeme * n_slots + slot`. A slot that looks at several tokens gives a row for each:
    every word inside a unit, up to `MOST_AROUND` words of the sentence around it, and up to
    `MOST_RECURRENCES` different words beside its other occurrences in the Doc, found among the
    first `MOST_VISITED` places with its last word. occurrences, long_forms: of the positions, read
    only where slots look at them.
    """
    n_slots = len(slots.anchor)
    starts = np.zeros(len(first) + 1, dtype=np.int64)
    columns = np.empty(n_slots * (len(first) + 1), dtype=np.int32)
    places = np.empty(MOST_AROUND, dtype=np.int32)
    size = 0
    for unit in range(len(first)):
        inside = last[unit] - first[unit] + 1
        if inside > len(places):
            places = np.empty(inside, dtype=np.int32)
        abbreviation = _abbreviation_in(long_forms, first[unit], last[unit])
        for s in range(n_slots):
            anchor, offset = slots.anchor[s], slots.offset[s]
            if anchor in (FIRST, LAST):
                n = 1
                places[0] = (first[unit] if anchor == FIRST else last[unit]) + offset
            elif anchor == ANY:
                n = inside
                for k in range(inside):
                    places[k] = first[unit] + k
            elif anchor == SENTENCE:
                n = _places_around(lexemes, first[unit], last[unit], places)
            elif anchor in (RECURRENCE, HEAD_RECURRENCE):
                begin = last[unit] if anchor == HEAD_RECURRENCE else first[unit]
                n = _recurrences(lexemes, occurrences, begin, last[unit], offset, places)
            elif abbreviation < 0:
                continue
            else:
                begin, end = long_forms.first[abbreviation], long_forms.last[abbreviation]
                begin = end if anchor == LONG_FORM_LAST else begin
                n = end - begin + 1
                for k in range(n):
                    places[k] = begin + k
            if size + n > len(columns):
                grown = np.empty(2 * (size + n), dtype=np.int32)
                grown[:size] = columns[:size]
                columns = grown
            for k in range(n):
                columns[size] = lexemes[places[k]] * n_slots + s
                size += 1
        starts[unit + 1] = size
    return starts, columns[:size].copy()
