"""Looks up the features of all segments of units that are short enough.

The segments that end at one unit are taken together, one template after the other: the values at
their end are read once, and the searches in the table of keys do not depend on each other, so the
processor waits for many of its places at once.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from ...features.keys import PositionValues
from ...features.plan import UnitLevelTemplates
from ...features.templates import ALL, FIRST, LAST, UNIT
from ...jit import helper, inlined, kernel
from ...numeric.hashing import HashTable, mix, probe
from ...numeric.key_filter import KeyFilter, may_have
from ...types import Ints1d, Keys2d, Pointers1d

Found: TypeAlias = tuple[Pointers1d, Ints1d, Pointers1d, Ints1d]
"""Of `segment_features`."""


class Looks(NamedTuple):
    """What templates look at in the segments of a batch.

    templates, values, first, last: as for `unit_level_keys`, of units. context: uint64 `[D, Q]`,
    values of each segment itself, in the order in which they are looked at: by end, and of one end
    the shortest first. of_lengths: uint64 `[D', L]`, further values, of its length. rest: int32
    `[n]`, the first part of each template behind those that look at the first unit. reach `[U]`:
    units of the longest segment that ends at each.
    """

    templates: UnitLevelTemplates
    values: PositionValues
    first: Ints1d
    last: Ints1d
    context: Keys2d
    of_lengths: Keys2d
    rest: Ints1d
    reach: Pointers1d


def behind_first(level: UnitLevelTemplates) -> Ints1d:
    """Of each template the first part behind those that look at the first unit, int32 `[n]`."""
    others = np.flatnonzero(level.anchor != FIRST)
    found = np.append(others, len(level.anchor))[np.searchsorted(others, level.first_part[:-1])]
    rest: Ints1d = np.minimum(found, level.first_part[1:]).astype(np.int32)
    return rest


@inlined
def _with_value(key, value):  # type: ignore[no-untyped-def]
    return mix(key, value) if key != 0 and value != 0 else np.uint64(0)


@inlined
def _with_values(looks, key, p, first, last):  # type: ignore[no-untyped-def]
    """A key with the values that part `p` reads from the position `first` to `last`."""
    values, column, offset = looks.values, looks.templates.column[p], looks.templates.offset[p]
    for position in range(first + offset, last + offset + 1):
        key = _with_value(key, values.of_rows[values.row[position], column])
    return key


@inlined
def _enter_keys(looks, j, t, number, begun, keys):  # type: ignore[no-untyped-def]
    """Write the keys of template `j` of the segments that end at `t`, the shortest first.

    number: of the shortest. begun: uint64 `[L]`, what the keys of those that end at the unit before
    begin with; overwritten with that of these. The parts of a template come first that look at the
    first unit, then possibly one at all units, which reads one value more of a longer segment.
    """
    templates, reach = looks.templates, looks.reach[t]
    first, last = looks.first[t + 1 - reach : t + 1], looks.last[t]
    p, behind = looks.rest[j], templates.first_part[j + 1]
    for d in range(reach - 1, 0, -1):
        begun[d] = begun[d - 1]
    begun[0] = templates.salt[j]
    for q in range(templates.first_part[j], p):
        begun[0] = _with_values(looks, begun[0], q, last, last)
    if p < behind and templates.anchor[p] == ALL:
        value = looks.values.of_rows[looks.values.row[last], templates.column[p]]
        for d in range(reach):
            begun[d] = _with_value(begun[d], value)
        p += 1
    for d in range(reach):
        keys[d] = begun[d]
    for q in range(p, behind):
        anchor, column = templates.anchor[q], templates.column[q]
        if anchor == UNIT:
            of_length = column - len(looks.context)
            for d in range(reach):
                if of_length < 0:
                    keys[d] = _with_value(keys[d], looks.context[column, number + d])
                else:
                    keys[d] = _with_value(keys[d], looks.of_lengths[of_length, d])
        elif anchor == LAST:
            position = last + templates.offset[q]
            value = looks.values.of_rows[looks.values.row[position], column]
            for d in range(reach):
                keys[d] = _with_value(keys[d], value)
        else:
            for d in range(reach):
                begin = first[reach - 1 - d]
                keys[d] = _with_values(looks, keys[d], q, begin, begin if anchor == FIRST else last)


@inlined
def _look_up(table, known, templates, j, keys, ids):  # type: ignore[no-untyped-def]
    """Write the numbers of the features with these keys to `ids[j]`, -1 where unknown.

    Also where a template with some of the parts of `j` has none, as `find_features` does.
    """
    for k in range(templates.first_parent[j], templates.first_parent[j + 1]):
        for d in range(len(keys)):
            if ids[templates.parent[k], d] < 0:
                keys[d] = 0
    for d in range(len(keys)):
        ids[j, d] = -1
        if keys[d] != 0 and may_have(known, keys[d]):
            ids[j, d] = table.places[probe(table, keys[d])]


@helper
def _enter_segments(table, known, looks, t, end, room, counts, rows):  # type: ignore[no-untyped-def]
    """Write the segments that end at units from `t` on, as far as there is room; the next unit."""
    begun, keys, ids = room
    lengths, indptr, indices, sizes = rows
    n_segments, n, size = sizes
    n_templates, longest = ids.shape
    while t < end and n + longest < len(lengths) and size + longest * n_templates < len(indices):
        reach = looks.reach[t]
        for j in range(n_templates):
            _enter_keys(looks, j, t, n_segments, begun[j], keys)
            _look_up(table, known, looks.templates, j, keys[:reach], ids)
        n_segments += reach
        first = n
        for d in range(reach):  # without branches, which nobody could foresee
            before = size
            for j in range(n_templates):
                indices[size] = ids[j, d]
                size += ids[j, d] >= 0
            lengths[n], indptr[n + 1] = d + 1, size
            n += size > before
        counts[t] = n - first
        t += 1
    sizes[0], sizes[1], sizes[2] = n_segments, n, size
    return t


@kernel
def segment_features(
    table: HashTable, known: KeyFilter, looks: Looks, begin: int, end: int
) -> tuple[Pointers1d, Ints1d, Pointers1d, Ints1d]:
    """Segments that end at the units from `begin` to before `end` and have known features.

    Returns how many segments there are for each end, their lengths, and their features as sparse
    rows.
    """
    n_templates, longest = len(looks.rest), looks.of_lengths.shape[1]
    counts = np.zeros(end, dtype=np.int64)
    capacity = looks.reach[begin:end].sum() // 2 + longest + 1
    lengths, indptr = np.empty(capacity, dtype=np.int32), np.zeros(capacity + 1, dtype=np.int64)
    indices = np.empty(2 * capacity + longest * n_templates + 1, dtype=np.int32)
    sizes = np.zeros(3, dtype=np.int64)
    begun, keys = np.zeros((n_templates, longest), dtype=np.uint64), np.empty(longest, np.uint64)
    room = begun, keys, np.empty((n_templates, longest), dtype=np.int32)
    for t in range(begin + 1 - looks.reach[begin], begin):  # what longer segments begin with
        for j in range(n_templates):
            _enter_keys(looks, j, t, 0, begun[j], keys)
    t = begin
    while t < end:
        rows = lengths, indptr, indices, sizes
        t = _enter_segments(table, known, looks, t, end, room, counts, rows)
        if t < end:
            lengths = np.append(lengths, np.empty_like(lengths))
            indptr = np.append(indptr, np.zeros_like(indptr))
            indices = np.append(indices, np.empty_like(indices))
    n, size = sizes[1], sizes[2]
    return counts[begin:].copy(), lengths[:n].copy(), indptr[: n + 1].copy(), indices[:size].copy()
