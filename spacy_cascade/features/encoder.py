"""From tokens to positions: words as rows of a table, and the values of each position."""

from __future__ import annotations

import numpy as np

from ..numeric.design import BinaryCSR
from ..parallel import LEXEME_LOCK
from ..types import Ints2d, Keys1d, Keys2d
from .attributes import TextOf
from .keys import Occurrences, slot_rows
from .lexemes import BOUNDARY, LexemeTable
from .padded import PaddedTokens, lay_out
from .plan import Plan
from .resources import Resources
from .tokens import Tokens
from .units import Units

_NO_OCCURRENCES = Occurrences(*(np.zeros(0, dtype=np.int32),) * 3)


class Encoder:
    """Encodes tokens as the templates of a plan look at them.

    table: the words met so far. It grows with each new word until `forget`.
    """

    def __init__(self, plan: Plan, resources: Resources) -> None:
        self._plan, self._resources = plan, resources
        self.table = self._empty_table()

    def __getstate__(self) -> dict[str, object]:
        """What is copied and pickled: no words, which another thread may be adding."""
        return {**self.__dict__, "table": self._empty_table()}

    def _empty_table(self) -> LexemeTable:
        return LexemeTable(self._plan.attributes, self._resources)

    def forget(self, more_than: int) -> None:
        """Start the table of words anew if it has grown beyond so many."""
        with LEXEME_LOCK:
            if len(self.table) > more_than:
                self.table = self._empty_table()

    def positions(self, tokens: Tokens, text_of: TextOf, own_flags: Ints2d | None) -> PaddedTokens:
        """The tokens in a line with boundary words between sequences."""
        table = self.table
        codes = self._resources.codes(tokens, own_flags)
        lexemes = table.rows(tokens.words, codes, text_of)
        of_words = table.attributes[:, : self._plan.n_unit_attributes]
        values = np.concatenate([of_words[lexemes], self._of_tokens(tokens, own_flags)], axis=1)
        boundary = np.zeros(values.shape[1], dtype=np.uint64)
        boundary[: of_words.shape[1]] = of_words[BOUNDARY]
        return lay_out(tokens, table, lexemes, values, boundary, self._plan.margin)

    def _of_tokens(self, tokens: Tokens, own_flags: Ints2d | None) -> Keys2d:
        columns: list[Keys1d] = [
            attribute.values(tokens, self._resources.of(attribute.spec), own_flags)
            for attribute in self._plan.of_tokens
        ]
        if not columns:
            return np.zeros((len(tokens.words), 0), dtype=np.uint64)
        return np.stack(columns, axis=1)


def unit_lexemes(plan: Plan, units: Units) -> BinaryCSR:
    """Which (lexeme, slot) rows each unit sums."""
    positions = units.positions
    occurrences = positions.occurrences if plan.looks_at_recurrences else _NO_OCCURRENCES
    rows = slot_rows(plan.slots, positions.lexemes, occurrences, units.first, units.last)
    return BinaryCSR(*rows, len(positions.table) * plan.n_slots)


def unit_values(plan: Plan, units: Units) -> Keys2d:
    """Values of units, uint64 `[U, D]`: of their context, without any where none was given."""
    shape = (len(units.first), len(plan.of_spans))
    context = units.context if units.context.shape == shape else np.zeros(shape, dtype=np.uint64)
    if not plan.lengths:
        return context
    lengths = (units.last - units.first + 1).astype(np.uint64)
    columns = [attribute.values(lengths) for attribute in plan.lengths]
    return np.concatenate([context, np.stack(columns, axis=1)], axis=1)
