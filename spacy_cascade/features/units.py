"""Units, tokens or spans that get a label, and the positions that they stand at.

For kernels the tokens of a batch stand in a line of *positions* with `margin` boundary words
before, between and after the sequences. Looking a few places to the side then never needs a test.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..caching import cached_property
from ..numeric.csr import BinaryCSR
from ..numeric.dense import TokenVectors
from ..numeric.index import KeyIndex
from ..types import Ints1d, Ints2d, Keys1d, Keys2d, Pointers1d
from .keys import PositionValues, unit_level_features
from .lexemes import BOUNDARY, LexemeTable
from .links import NO_LINKS, LinkedPositions, Links
from .plan import Plan, UnitLevelTemplates
from .slots import NO_OCCURRENCES, Occurrences, find_occurrences, slot_rows
from .tokens import Tokens


@dataclass(frozen=True)
class PaddedTokens:
    """Tokens with boundary words between sequences.

    table: of the words; that of the feature space may be a new one by now. lexemes: int32 `[P]`,
    rows of it. values: what unit-level templates read of them, first the words' values. of_token:
    int32 `[T]`, the position of each token. doc_starts: int32 `[D + 1]`, the position from which
    on each Doc's tokens stand. recurrences: int32 `[R]`, offsets at which templates look beside
    places where words occur again. links: none where no template follows them. text_of: gives the
    text of a word's hash.
    """

    table: LexemeTable
    lexemes: Ints1d
    values: PositionValues
    of_token: Ints1d
    doc_starts: Ints1d
    recurrences: Ints1d
    links: LinkedPositions = NO_LINKS
    text_of: Callable[[int], str] | None = None

    @cached_property
    def occurrences(self) -> Occurrences:
        """Where the words of positions occur again in their Docs."""
        if not len(self.recurrences):
            return NO_OCCURRENCES
        line = self.lexemes, self.table.form_of, self.doc_starts
        return Occurrences(*find_occurrences(*line, self.recurrences))


def lay_out(
    tokens: Tokens,
    table: LexemeTable,
    lexemes: Ints1d,
    n_of_words: int,
    of_tokens: Sequence[Keys1d],
    margin: int,
    recurrences: Ints1d,
    text_of: Callable[[int], str] | None = None,
) -> PaddedTokens:
    """Put tokens in a line with `margin` boundary words around every sequence.

    lexemes: `[T]`, rows of the table, whose first `n_of_words` attributes templates read.
    of_tokens: further values, each `[T]`, which boundary words have not. recurrences: as in
    `PaddedTokens`, and so is text_of.
    """
    starts, n_tokens = tokens.sequence_starts, len(lexemes)
    n_boundaries = margin * np.arange(1, len(starts) + 1)
    of_token = np.arange(n_tokens) + np.repeat(n_boundaries[:-1], np.diff(starts))
    n_positions = n_tokens + n_boundaries[-1]
    line = np.full(n_positions, BOUNDARY, dtype=np.int32)
    line[of_token] = lexemes
    values = PositionValues(table.attributes, line)
    if of_tokens:
        joined = np.zeros((n_positions, n_of_words + len(of_tokens)), dtype=np.uint64)
        joined[:, :n_of_words] = values.of_rows[line, :n_of_words]
        for column, of_attribute in enumerate(of_tokens, n_of_words):
            joined[of_token, column] = of_attribute
        values = PositionValues(joined, np.arange(n_positions, dtype=np.int32))
    doc_starts = np.append(of_token, n_positions)[tokens.doc_starts].astype(np.int32)
    places = of_token.astype(np.int32), doc_starts
    return PaddedTokens(table, line, values, *places, recurrences, text_of=text_of)


def with_links(positions: PaddedTokens, links: Links) -> PaddedTokens:
    """The positions with the links of their tokens."""
    of_token = positions.of_token
    number = np.full(len(positions.lexemes), -1, dtype=np.int32)
    number[of_token] = links.number
    linked = LinkedPositions(number, of_token[links.start], of_token[links.end - 1])
    return replace(positions, links=linked)


NO_CONTEXT = np.zeros((0, 0), dtype=np.uint64)


class TokenSource(NamedTuple):
    """Tokens that are units, one each, for who looks at more than units.

    text_of: of a hash. own_flags: gold flags in training, else None.
    """

    tokens: Tokens
    text_of: Callable[[int], str]
    own_flags: Ints2d | None


@dataclass(frozen=True)
class Units:
    """What is to be scored.

    positions: those of a batch. first, last: int32 `[U]`, first and last position of each
    unit. context: uint64 `[U, C]`, what templates read of a span's surroundings, in the order
    of `Plan.context`, 0 for "no value"; nothing where there are no such templates. source: the
    tokens, where the units are all of these. vectors: of an encoder, where there is one.
    """

    positions: PaddedTokens
    first: Ints1d
    last: Ints1d
    context: Keys2d = field(default_factory=lambda: NO_CONTEXT)
    source: TokenSource | None = None
    vectors: TokenVectors | None = None

    def take(self, numbers: Pointers1d | slice) -> Units:
        """Some of the units, in the given order; a slice gives views."""
        context = self.context[numbers] if len(self.context) else self.context
        bounds = self.first[numbers], self.last[numbers]
        vectors = None if self.vectors is None else self.vectors.take(numbers)
        return Units(self.positions, *bounds, context, vectors=vectors)


def rows_of_slots(plan: Plan, units: Units, begin: int) -> BinaryCSR:
    """Which (lexeme, slot) rows each unit sums, of slots from `begin` on."""
    positions = units.positions
    line = positions.lexemes, positions.occurrences, positions.links
    rows = slot_rows(plan.slots, *line, units.first, units.last, begin)
    return BinaryCSR(*rows, len(positions.table) * plan.n_slots)


def values_of_units(plan: Plan, units: Units) -> Keys2d:
    """Values of units, uint64 `[U, D]`: of their context, without any where none was given."""
    shape = (len(units.first), len(plan.of_spans))
    context = units.context
    if context.shape != shape:
        context = np.zeros(shape, dtype=np.uint64)
    lengths = (units.last - units.first + 1).astype(np.uint64)
    return np.column_stack([context, *(each.values(lengths) for each in plan.lengths)])


def known_features(
    index: KeyIndex, plan: Plan, templates: UnitLevelTemplates, units: Units
) -> BinaryCSR:
    """The known features of each unit; templates: of the plan, some of the unit-level ones."""
    values, of_unit = units.positions.values, values_of_units(plan, units)
    indptr, indices = index.apply(
        unit_level_features, templates, values, of_unit, units.first, units.last
    )
    return BinaryCSR(indptr, indices, len(index))
