"""Known features of all segments of a batch.

Nearly all keys of segments are unknown. A filter of bits, small enough for the processor's cache,
says so for most of them, before the table of keys is asked.
"""

from __future__ import annotations

import numpy as np

from ...features.keys import PositionValues, unit_level_key
from ...features.plan import UnitLevelTemplates
from ...jit import kernel
from ...numeric.hashing import HashTable, probe
from ...numeric.key_filter import KeyFilter, may_have
from ...types import Ints1d, Keys2d, Pointers1d


@kernel
def segment_features(
    table: HashTable,
    known: KeyFilter,
    templates: UnitLevelTemplates,
    values: PositionValues,
    context: Keys2d,
    of_lengths: Keys2d,
    first: Ints1d,
    last: Ints1d,
    reach: Pointers1d,
    begin: int,
    end: int,
) -> tuple[Pointers1d, Ints1d, Pointers1d, Ints1d]:
    """Segments that end at the units from `begin` to before `end` and have known features.

    context `[Q, D]`: values of each segment itself, in the order in which they are looked at here:
    by end, and of one end the shortest first. of_lengths `[L, D']`: further values, of its length.
    first, last `[U]`: positions of units. reach `[U]`: units of the longest segment that ends at
    each. Returns how many segments there are for each end, their lengths, and their features as
    sparse rows.
    """
    n_templates, n_context = len(templates.salt), context.shape[1]
    counts = np.zeros(end - begin, dtype=np.int64)
    lengths = np.empty(2 * (end - begin) + 16, dtype=np.int32)
    indptr = np.zeros(len(lengths) + 1, dtype=np.int64)
    indices = np.empty(4 * len(lengths), dtype=np.int32)
    own = np.empty((1, n_context + of_lengths.shape[1]), dtype=np.uint64)
    found = np.empty(n_templates, dtype=np.int32)
    n, size, number = 0, 0, 0
    for t in range(begin, end):
        for d in range(1, reach[t] + 1):
            for c in range(n_context):
                own[0, c] = context[number, c]
            for c in range(of_lengths.shape[1]):
                own[0, n_context + c] = of_lengths[d - 1, c]
            number += 1
            begun = size
            if size + n_templates > len(indices):
                more = np.empty(2 * (size + n_templates), dtype=np.int32)
                for k in range(size):
                    more[k] = indices[k]
                indices = more
            for j in range(n_templates):
                found[j] = -1
                possible = True
                for k in range(templates.first_parent[j], templates.first_parent[j + 1]):
                    possible &= found[templates.parent[k]] >= 0
                if possible:
                    key = unit_level_key(templates, j, values, own, 0, first[t + 1 - d], last[t])
                    if key != 0 and may_have(known, key):
                        found[j] = table.places[probe(table, key)]
                        if found[j] >= 0:
                            indices[size] = found[j]
                            size += 1
            if size == begun:
                continue
            if n == len(lengths):
                more_lengths = np.empty(2 * n, dtype=np.int32)
                more_starts = np.empty(2 * n + 1, dtype=np.int64)
                more_starts[n] = indptr[n]
                for k in range(n):
                    more_lengths[k], more_starts[k] = lengths[k], indptr[k]
                lengths, indptr = more_lengths, more_starts
            lengths[n] = d
            n += 1
            indptr[n] = size
            counts[t - begin] += 1
    return counts, lengths[:n].copy(), indptr[: n + 1].copy(), indices[:size].copy()
