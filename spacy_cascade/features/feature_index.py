"""Feature ids: which features are known, and which of them words and units have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..numeric.design import BinaryCSR
from ..numeric.index import KeyIndex, frequent_keys
from ..types import Keys1d, Keys2d
from .encoder import unit_lexemes, unit_values
from .keys import known_features, lexeme_level_keys, unit_level_features, unit_level_keys
from .lexemes import LexemeTable
from .plan import Plan
from .units import Units


@dataclass(frozen=True)
class _KnownFeatures:
    """Features of the lexemes of a table, under an index."""

    lexemes: LexemeTable
    index: KeyIndex
    rows: BinaryCSR


class FeatureIndex:
    """The ids of the known features of a plan's templates.

    index: keys of known features, in the order of the rows of the weights.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.index = KeyIndex()
        self._known: _KnownFeatures | None = None

    def __len__(self) -> int:
        return len(self.index)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_known": None}

    @property
    def n_cached(self) -> int:
        """Number of (lexeme, slot) rows whose features are kept between calls."""
        return 0 if self._known is None else self._known.rows.n_rows

    def forget(self) -> None:
        """Give up the features of lexemes that are kept between calls."""
        self._known = None

    def learn(self, units: Units, minimum: int) -> None:
        """Number all features that are seen in at least `minimum` units."""
        self.index = KeyIndex(self._frequent(units, minimum))

    def extend(self, units: Units, minimum: int) -> int:
        """Number the unknown ones among them after the others; returns how many there are."""
        keys = self._frequent(units, minimum)
        new = keys[self.index.lookup(keys) < 0]
        self.index = KeyIndex(np.concatenate([self.index.keys, new]))
        return len(new)

    def _frequent(self, units: Units, minimum: int) -> Keys1d:
        """Keys of the features that are seen in at least `minimum` units."""
        attributes = units.positions.table.attributes
        counts = np.bincount(
            unit_lexemes(self._plan, units).indices,
            minlength=len(attributes) * self._plan.n_slots,
        ).reshape(len(attributes), self._plan.n_slots)
        per_template = np.diff(self._plan.slot_end, prepend=0)
        of_lexemes = frequent_keys(
            self.lexeme_keys(attributes).reshape(-1),
            np.repeat(counts, per_template, axis=1).reshape(-1).astype(np.float64),
            minimum,
        )
        return np.concatenate([of_lexemes, frequent_keys(self.unit_keys(units), None, minimum)])

    def lexeme_keys(self, attributes: Keys2d) -> Keys2d:
        """Keys of the lexeme-level templates, uint64 `[n, templates]`; attributes `[n, A]`."""
        return lexeme_level_keys(attributes, self._plan.lexeme_attribute, self._plan.lexeme_salt)

    def unit_keys(self, units: Units) -> Keys2d:
        """Keys of the unit-level templates, uint64 `[U, templates]`."""
        values, of_unit = units.positions.values, unit_values(self._plan, units)
        return unit_level_keys(self._plan.unit_level, values, of_unit, units.first, units.last)

    def of_lexemes(self, attributes: Keys2d) -> BinaryCSR:
        """Known features of each (lexeme, slot); attributes uint64 `[n, A]`."""
        ids = self.index.lookup(self.lexeme_keys(attributes))
        return BinaryCSR(*known_features(ids, self._plan.slot_end), len(self))

    def of_units(self, units: Units) -> BinaryCSR:
        """Known unit-level features of each unit."""
        values, of_unit = units.positions.values, unit_values(self._plan, units)
        indptr, indices = self.index.apply(
            unit_level_features, self._plan.unit_level, values, of_unit, units.first, units.last
        )
        return BinaryCSR(indptr, indices, len(self))

    def of_table(self, table: LexemeTable) -> BinaryCSR:
        """Known features of each (lexeme, slot) of a table, kept for the next call."""
        known, attributes = self._known, table.attributes
        if known is None or known.lexemes is not table or known.index is not self.index:
            rows = self.of_lexemes(attributes)
        elif known.rows.n_rows < len(attributes) * self._plan.n_slots:
            old = known.rows
            new = self.of_lexemes(attributes[old.n_rows // self._plan.n_slots :])
            rows = BinaryCSR(
                np.concatenate([old.indptr, old.indptr[-1] + new.indptr[1:]]),
                np.concatenate([old.indices, new.indices]),
                len(self),
            )
        else:
            return known.rows
        self._known = _KnownFeatures(table, self.index, rows)
        return rows
