"""A feature space: template set, feature ids, and the way from tokens to a design matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ..numeric.design import BinaryCSR, Design
from ..numeric.index import KeyIndex, frequent_keys
from ..parallel import LEXEME_LOCK
from ..types import Ints2d, Keys1d, Keys2d
from .keys import (
    Occurrences,
    known_features,
    lexeme_level_keys,
    slot_rows,
    unit_level_features,
    unit_level_keys,
)
from .lexemes import BOUNDARY, LexemeTable
from .lexicons import Lexicon
from .plan import make_plan
from .templates import LEXICON_FORMS, Templates, argument_of
from .terms import Spellings, TermList, read_spellings
from .tokens import PaddedTokens, Tokens, lay_out
from .units import Units
from .word_counts import SHARES, SpanWordCounts

_NO_OCCURRENCES = Occurrences(*(np.zeros(0, dtype=np.int32),) * 3)
TextOf = Callable[[int], str]
"""Gives the text of a word's 64-bit hash, as `vocab.strings` does."""


@dataclass(frozen=True)
class _KnownFeatures:
    """Features of the lexemes of a table, under an index."""

    lexemes: LexemeTable
    index: KeyIndex
    rows: BinaryCSR


class FeatureSpace:
    """Everything that turns tokens into features, and the ids of the features known.

    A *unit* is what gets a label: a token (`first = last`) or a span of positions.

    templates: what to look at. index: keys of known features, in the order of the rows
    of the weights. lexicons: the term lists by attribute, such as `lexicon(genes)`. evidence:
    counts of words in spans.
    """

    def __init__(self, templates: Templates) -> None:
        self.templates = templates
        self.plan = make_plan(templates)
        self.index = KeyIndex()
        self.lexicons: dict[str, Lexicon] = {}
        self.evidence = SpanWordCounts(KeyIndex(), np.zeros((0, 1 + len(SHARES)), dtype=np.int32))
        self.lexemes = LexemeTable(templates, self.plan)
        self._known: _KnownFeatures | None = None

    def __len__(self) -> int:
        return len(self.index)

    def __getstate__(self) -> dict[str, object]:
        """What is copied and pickled: no words, which another thread may be adding."""
        return {**self.__dict__, "lexemes": LexemeTable(self.templates, self.plan), "_known": None}

    @property
    def memberships(self) -> list[str]:
        """Attributes for membership in a lexicon that some template reads."""
        return [n for n in self.plan.placed if n.partition("(")[0] in LEXICON_FORMS]

    @property
    def uses_evidence(self) -> bool:
        """Whether some template reads what training showed of a word."""
        return any(name in SHARES for name in self.plan.attributes)

    @property
    def reads(self) -> tuple[str, ...]:
        """What `sequences.read_tokens` has to read besides the words."""
        wanted = {
            "lower": self.uses_evidence
            or bool(self.plan.context)
            or any(name.startswith("lexicon(") for name in self.plan.placed),
            "tags": "tag" in self.plan.placed,
            "parts_of_speech": "pos" in self.plan.placed,
        }
        return tuple(name for name, is_read in wanted.items() if is_read)

    @property
    def span_keys(self) -> list[str]:
        """Keys of the span groups that some template reads."""
        return [argument_of(n) for n in self.plan.placed if n.startswith("span(")]

    def read_lexicons(self, tokenize: Callable[[str], Iterable[str]]) -> None:
        """Load the term lists; a term is known both as tokenized and as split at spaces.

        tokenize: tokens of a text without spaces. Raises `TemplateError` where a list cannot be
        read.
        """
        spellings: dict[str, Spellings] = {}
        for attribute in self.memberships:
            form, name = attribute.partition("(")[0], argument_of(attribute)
            if name not in spellings:
                spellings[name] = read_spellings(name, self.templates.lexicons[name], tokenize)
            self.lexicons[attribute] = Lexicon.of(spellings[name], LEXICON_FORMS[form])

    def forget_lexemes(self, more_than: int) -> None:
        """Start the table of words anew if it has grown beyond so many."""
        with LEXEME_LOCK:
            if len(self.lexemes) > more_than:
                self.lexemes, self._known = LexemeTable(self.templates, self.plan), None

    def learn_evidence(self, tokens: Tokens, flags: Ints2d) -> None:
        """Count words inside spans, and listed terms that are spans, where that is asked for.

        flags: `evidence.span_flags`.
        """
        if self.uses_evidence:
            self.evidence = SpanWordCounts.learn(tokens.lower, flags)
        for attribute in self.memberships:
            if self.leaves_out(attribute):
                words = _compared(tokens, attribute)
                lexicon = self.lexicons[attribute].learn(words, tokens.doc_starts, flags)
                self.lexicons[attribute] = lexicon

    def leaves_out(self, attribute: str) -> bool:
        """Whether a Doc that is trained on does not see its own entries of a lexicon."""
        source = self.templates.lexicons[argument_of(attribute)]
        return isinstance(source, TermList) and source.leave_out

    def add_evidence(self, tokens: Tokens, flags: Ints2d) -> None:
        """Count those of further tokens, too."""
        if self.uses_evidence:
            self.evidence = self.evidence.joined(SpanWordCounts.learn(tokens.lower, flags))

    def positions(
        self, tokens: Tokens, text_of: TextOf, own_flags: Ints2d | None = None
    ) -> PaddedTokens:
        """The tokens in a line with boundary words between sequences.

        own_flags: gold flags of the tokens in training (see `SpanWordCounts.codes`).
        """
        codes = None
        if self.uses_evidence:
            codes = self.evidence.codes(tokens.lower, tokens.doc_starts, own_flags)
        table = self.lexemes
        lexemes = table.rows(tokens.words, codes, text_of)
        attributes = table.attributes[:, : self.plan.n_unit_attributes]
        placed = self._placed(tokens, own_flags)
        values = np.concatenate([attributes[lexemes], placed], axis=1)
        boundary = np.zeros(values.shape[1], dtype=np.uint64)
        boundary[: attributes.shape[1]] = attributes[BOUNDARY]
        return lay_out(tokens, table, lexemes, values, boundary, self.plan.margin)

    def learn(self, units: Units, minimum: int) -> None:
        """Number all features that are seen in at least `minimum` units."""
        self.index = KeyIndex(self._frequent(units, minimum))

    def extend(self, units: Units, minimum: int) -> int:
        """Number those that are not known yet after the others; how many there are."""
        keys = self._frequent(units, minimum)
        new = keys[self.index.lookup(keys) < 0]
        self.index = KeyIndex(np.concatenate([self.index.keys, new]))
        return len(new)

    def _frequent(self, units: Units, minimum: int) -> Keys1d:
        """Keys of the features that are seen in at least `minimum` units."""
        attributes = units.positions.table.attributes
        counts = np.bincount(
            self.unit_lexemes(units).columns, minlength=len(attributes) * self.plan.n_slots
        ).reshape(len(attributes), self.plan.n_slots)
        per_template = np.diff(self.plan.slot_end, prepend=0)
        factored = frequent_keys(
            self._factored_keys(attributes).reshape(-1),
            np.repeat(counts, per_template, axis=1).reshape(-1).astype(np.float64),
            minimum,
        )
        keys = unit_level_keys(
            self.plan.unit_level,
            units.positions.values,
            self.context(units),
            units.first,
            units.last,
        )
        direct = frequent_keys(keys, None, minimum)
        return np.concatenate([factored, direct])

    def design(self, units: Units) -> Design:
        """The design matrix of units, over the (lexeme, slot) rows that they look at."""
        unit_lexemes = self.unit_lexemes(units)
        is_seen = np.zeros(unit_lexemes.n_columns, dtype=np.bool_)
        is_seen[unit_lexemes.columns] = True
        seen = np.flatnonzero(is_seen)
        number = (np.cumsum(is_seen) - 1).astype(np.int32)
        return Design(
            lexeme_features=self._all_lexeme_features(units.positions.table).take(seen),
            unit_lexemes=BinaryCSR(unit_lexemes.starts, number[unit_lexemes.columns], len(seen)),
            unit_features=self.unit_features(units),
        )

    def lexeme_features(self, attributes: Keys2d) -> BinaryCSR:
        """Known features of each (lexeme, slot); attributes: of the lexemes, from their table."""
        ids = self.index.lookup(self._factored_keys(attributes))
        return BinaryCSR(*known_features(ids, self.plan.slot_end), len(self))

    def unit_lexemes(self, units: Units) -> BinaryCSR:
        """Which (lexeme, slot) rows each unit sums."""
        positions = units.positions
        occurrences = positions.occurrences if self.plan.looks_again else _NO_OCCURRENCES
        rows = slot_rows(self.plan.slots, positions.lexemes, occurrences, units.first, units.last)
        return BinaryCSR(*rows, len(positions.table) * self.plan.n_slots)

    def unit_features(self, units: Units) -> BinaryCSR:
        """Known direct features of each unit."""
        starts, columns = self.index.apply(
            unit_level_features, self.plan.unit_level, units.positions.values, self.context(units),
            units.first, units.last,
        )  # fmt: skip
        return BinaryCSR(starts, columns, len(self))

    def context(self, units: Units) -> Keys2d:
        """Context of the units, without values where none was given."""
        shape = (len(units.first), len(self.plan.context))
        return units.context if units.context.shape == shape else np.zeros(shape, dtype=np.uint64)

    def _all_lexeme_features(self, table: LexemeTable) -> BinaryCSR:
        """Known features of each (lexeme, slot), those of earlier calls not looked up again."""
        known, attributes = self._known, table.attributes
        if known is None or known.lexemes is not table or known.index is not self.index:
            known = _KnownFeatures(table, self.index, self.lexeme_features(attributes))
        elif known.rows.n_rows < len(attributes) * self.plan.n_slots:
            old = known.rows
            new = self.lexeme_features(attributes[old.n_rows // self.plan.n_slots :])
            known = _KnownFeatures(
                table,
                self.index,
                BinaryCSR(
                    np.concatenate([old.starts, old.starts[-1] + new.starts[1:]]),
                    np.concatenate([old.columns, new.columns]),
                    len(self),
                ),
            )
        self._known = known
        return known.rows

    def _factored_keys(self, attributes: Keys2d) -> Keys2d:
        return lexeme_level_keys(attributes, self.plan.lexeme_attribute, self.plan.lexeme_salt)

    def _placed(self, tokens: Tokens, own_flags: Ints2d | None) -> Keys2d:
        columns: list[Keys1d] = []
        for name in self.plan.placed:
            if name == "tag":
                columns.append(tokens.tags)
            elif name == "pos":
                columns.append(tokens.parts_of_speech)
            elif name.startswith("span("):
                columns.append(tokens.spans[argument_of(name)])
            else:
                columns.append(self._membership(name, tokens, own_flags))
        if not columns:
            return np.zeros((len(tokens.words), 0), dtype=np.uint64)
        return np.ascontiguousarray(np.stack(columns, axis=1))

    def _membership(self, attribute: str, tokens: Tokens, own_flags: Ints2d | None) -> Keys1d:
        lexicon, words = self.lexicons[attribute], _compared(tokens, attribute)
        if own_flags is None or lexicon.is_single is None:
            return lexicon.values(words, tokens.sequence_starts)
        return lexicon.values_of_others(words, tokens.sequence_starts, tokens.doc_starts, own_flags)


def _compared(tokens: Tokens, attribute: str) -> Keys1d:
    """The hashes of tokens that are compared with those of terms."""
    return tokens.lower if attribute.startswith("lexicon(") else tokens.words
