"""Scores of units, summed without writing down most of the rows that they consist of."""

from __future__ import annotations

from ..numeric.csr import add_rows
from ..types import Floats2d, Reals2d, RealsXd
from .pair_scores import KnownPairs, add_pair_scores
from .slots import add_edge_scores
from .space import FeatureSpace
from .unit_rows import known_features, rows_of_slots
from .units import Units


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
