"""How often each feature occurs in a corpus, which is read in blocks."""

from __future__ import annotations

import numpy as np

from ..numeric.key_counts import KeyCounts
from ..types import Keys1d
from .keys import lexeme_level_keys, unit_level_keys
from .plan import Plan
from .units import Units, rows_of_slots, values_of_units


class FeatureCounts:
    """In how many units each feature is seen; plan: of the feature space.

    Memory does not grow with the number of blocks (`numeric.key_counts`).
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._of_lexemes, self._of_units = KeyCounts(), KeyCounts()

    def add(self, units: Units) -> None:
        """Count the features of a block of whole Docs."""
        self._add_lexemes(units)
        plan, values = self._plan, values_of_units(self._plan, units)
        keys = unit_level_keys(
            plan.unit_level, units.positions.values, values, units.first, units.last
        )
        self._of_units.add(keys)

    def _add_lexemes(self, units: Units) -> None:
        """Features of a word are counted once for all units that look at it in the same place."""
        plan, n_slots = self._plan, self._plan.n_slots
        rows = rows_of_slots(plan, units, 0).indices
        table = units.positions.table.attributes
        occurrences = np.bincount(rows, minlength=len(table) * n_slots).reshape(len(table), n_slots)
        seen = np.flatnonzero(occurrences.any(axis=1))
        keys = lexeme_level_keys(table[seen], plan.lexeme_attribute, plan.lexeme_salt)
        counts = occurrences[seen].astype(np.float64)
        self._of_lexemes.add(keys, np.repeat(counts, np.diff(plan.slot_start), axis=1).reshape(-1))

    def frequent(self, minimum: int) -> Keys1d:
        """Keys of the features seen at least `minimum` times.

        Those of words and of units, of each the most frequent first.
        """
        return np.append(self._of_lexemes.frequent(minimum), self._of_units.frequent(minimum))
