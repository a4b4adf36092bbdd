"""Scores of units; those of pairs of neighbouring words are summed once for each pair.

Words come in the same company again and again: most pairs of a text have been met before. For them
one look at a table of scores replaces the search for the features of all templates of pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import inlined, kernel
from ..numeric.csr import add_rows
from ..numeric.hashing import HashFunction, HashTable, draw_hash, home
from ..types import Floats2d, Floats3d, Ints1d, Ints2d, Keys2d, Reals2d, RealsXd
from .keys import BLOCK, PositionValues, find_features
from .plan import PairTemplates
from .slots import add_edge_scores
from .space import FeatureSpace
from .templates import FIRST
from .units import Units, known_features, rows_of_slots

_MOST_BYTES = 1 << 24
_MOST_PAIRS = 1 << 16
_WAYS = 4
"""Places at which a pair may stand, side by side in one line of the processor's cache."""


class KnownPairs(NamedTuple):
    """A table of scores for kernels; where it is crowded, a new pair replaces another one.

    pairs: uint64 `[G, N]`, the pair at each place, or 0. rows: int32 `[G, N]`, where its scores
    stand. scores: float64 `[G, N, S]`, in the order in which pairs were met, for they come again in
    this order. sizes: int32 `[G]`, how many rows there are.
    """

    pairs: Keys2d
    rows: Ints2d
    scores: Floats3d
    sizes: Ints1d
    hashed: HashFunction

    @property
    def shape(self) -> tuple[int, int]:
        """Number of groups, and of scores of a pair."""
        return self.scores.shape[0], self.scores.shape[2]


def no_pairs(n_groups: int, n_columns: int) -> KnownPairs:
    """An empty table, for `n_columns` scores of a pair."""
    fitting = max(_MOST_BYTES // (8 * max(n_groups * n_columns, 1)), 2 * _WAYS)
    n_places = min(1 << (fitting.bit_length() - 1), _MOST_PAIRS)
    return KnownPairs(
        np.zeros((n_groups, n_places), dtype=np.uint64),
        np.empty((n_groups, n_places), dtype=np.int32),
        np.empty((n_groups, n_places, n_columns), dtype=np.float64),
        np.zeros(n_groups, dtype=np.int32),
        draw_hash(n_places // _WAYS),
    )


def forget_pairs(known: KnownPairs) -> None:
    """Empty a table. A new one each time would leave holes in the memory of a long process."""
    known.pairs.fill(0)
    known.sizes.fill(0)


@inlined
def _row_of(known, group, pair):  # type: ignore[no-untyped-def]
    """Row of the scores of a pair, -1 where it is not there."""
    begin, row = home(known.hashed, pair) * _WAYS, -1
    for way in range(_WAYS):
        if known.pairs[group, begin + way] == pair:
            row = known.rows[group, begin + way]
    return row


@inlined
def _enter(known, group, pair, turn):  # type: ignore[no-untyped-def]
    """Enter a pair, which may be there; returns the row of its scores.

    turn: a number that says which pair it replaces where no place is free.
    """
    begin = home(known.hashed, pair) * _WAYS
    place = begin + turn % _WAYS
    for way in range(_WAYS):
        if known.pairs[group, begin + way] == pair or known.pairs[group, begin + way] == 0:
            place = begin + way
            break
    if known.pairs[group, place] == 0:
        known.rows[group, place] = known.sizes[group]
        known.sizes[group] += 1
    known.pairs[group, place] = pair
    return known.rows[group, place]


@kernel
def add_pair_scores(
    table: HashTable,
    templates: PairTemplates,
    known: KnownPairs,
    lexemes: Ints1d,
    values: PositionValues,
    first: Ints1d,
    last: Ints1d,
    weights: Reals2d,
    out: Floats2d,
) -> None:
    """`out[u] += Σ_k weights[k]` over the known features `k` of the templates of pairs.

    The sum over a group is added as a whole, whether it was kept or not, so that it has the same
    bits. table: of the features. weights: `[K, S]`. out: `[U, S]`. lexemes, values, first, last: as
    for `known.unit_level_features`. Only one thread at a time may have `known`.
    """
    n_templates, width = len(templates.level.salt), out.shape[1]
    keys = np.empty((n_templates, BLOCK), dtype=np.uint64)
    ids = np.empty((n_templates, BLOCK), dtype=np.int32)
    missing = np.empty(BLOCK, dtype=np.int32)
    pairs, rows = np.empty(BLOCK, dtype=np.uint64), np.empty(BLOCK, dtype=np.int32)
    for begin in range(0, len(first), BLOCK):
        size = min(BLOCK, len(first) - begin)
        for group in range(len(templates.anchor)):
            scores = known.scores[group]
            edge = first if templates.anchor[group] == FIRST else last
            # All searches come before all sums, as in `known.find_features`.
            for i in range(size):
                place = edge[begin + i] + templates.offset[group]
                left, right = np.uint64(lexemes[place] + 1), np.uint64(lexemes[place + 1])
                pairs[i] = (left << np.uint64(32)) | right
                rows[i] = _row_of(known, group, pairs[i])
            n = 0
            for i in range(size):
                if rows[i] < 0:
                    missing[n] = begin + i
                    n += 1
                else:
                    for c in range(width):
                        out[begin + i, c] += scores[rows[i], c]
            j, end = np.int64(templates.begin[group]), np.int64(templates.begin[group + 1])
            find_features(
                table, templates.level, j, end, values, values.of_rows, first, last, missing[:n],
                keys, ids,
            )  # fmt: skip
            for i in range(n):
                unit = missing[i]
                row = _enter(known, group, pairs[unit - begin], unit)
                for c in range(width):
                    scores[row, c] = 0.0
                for k in ids[j:end, i]:
                    if k >= 0:
                        for c in range(width):
                            scores[row, c] += weights[k, c]
                for c in range(width):
                    out[unit, c] += scores[row, c]


def add_unit_scores(
    space: FeatureSpace,
    units: Units,
    by_lexeme: Reals2d,
    known: KnownPairs,
    weights: RealsXd,
    out: Floats2d,
) -> None:
    """Add the scores of units to `out` `[U, S]`.

    by_lexeme: `[n_lexemes · n_slots, S]`, those of the (lexeme, slot) rows. known: scores of pairs
    of words; more of them are entered. weights: `[K, S]`.
    """
    plan, positions, bounds = space.plan, units.positions, (units.first, units.last)
    add_edge_scores(plan.slots, plan.n_edge_slots, positions.lexemes, *bounds, by_lexeme, out)
    of_slots = rows_of_slots(plan, units, plan.n_edge_slots)
    others = known_features(space.index, plan, plan.unpaired, units)
    for rows, values in ((of_slots, by_lexeme), (others, weights)):
        add_rows(rows.indptr, rows.indices, values, out, 0, rows.n_rows)
    line = positions.lexemes, positions.values
    space.index.apply(add_pair_scores, plan.pairs, known, *line, *bounds, weights, out)
