"""A feature space: template set, known features, and the way from tokens to a design matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..numeric.csr import BinaryCSR
from ..numeric.dense import DenseRows
from ..numeric.design import Design
from ..numeric.encoded import Encoded
from ..numeric.index import KeyIndex
from ..parallel import LEXEME_LOCK
from ..types import Bools1d, Ints2d, Keys1d, Keys2d
from .attributes import ContextAttribute
from .attributes import TextOf as TextOf
from .feature_counts import FeatureCounts
from .keys import lexeme_level_keys, unit_level_keys
from .lexemes import LexemeTable
from .plan import make_plan
from .registry import linking_resource
from .resources import FlaggedTokens, Resources, ResourceSpec
from .span_context import SpanContext
from .templates import Template, Templates
from .tokens import FURTHER, Tokens
from .units import (
    PaddedTokens,
    Units,
    known_features,
    lay_out,
    rows_of_slots,
    values_of_units,
    with_links,
)


def _values_of_spans(
    attribute: ContextAttribute, resources: Resources, spans: SpanContext
) -> Keys1d:
    return attribute.values(spans, resources.of(attribute.spec))


@dataclass(frozen=True)
class _KnownFeatures:
    """Features of the lexemes of a table, under an index."""

    lexemes: LexemeTable
    index: KeyIndex
    rows: BinaryCSR


class FeatureSpace:
    """Everything that turns tokens into features, and the known features.

    A *unit* is what gets a label: a token (`first = last`) or a span of positions.

    templates: what to look at. of_wholes: what a space of more than units looks at besides. plan:
    the same for kernels. resources: what attributes read besides the Docs. lexemes: the words met
    so far, until `forget_lexemes`. index: keys of known features, in the order of the rows of the
    weights. reads, span_keys: what `tokens.read_tokens` has to read besides the words. links: the
    resource that says what places such as `@long_form` lead to, None where no template has them.
    earlier: the space of a component that meets the same words just before, if there is one.
    """

    scores_in_parts = True
    """Whether some sequences of a batch can be scored without the others."""

    def __init__(self, templates: Templates, of_wholes: Sequence[Template] = ()) -> None:
        self.templates = templates
        self.plan = plan = make_plan(templates, of_wholes)
        self.links = linking_resource() if plan.follows_links else None
        self.resources = Resources(self._specs())
        context = tuple(partial(_values_of_spans, each, self.resources) for each in plan.of_spans)
        self.plan = replace(plan, context=context)
        self.lexemes = self._no_lexemes()
        self.index = KeyIndex()
        self.earlier: FeatureSpace | None = None
        self._known: _KnownFeatures | None = None
        fields = {field for attribute in plan.all_attributes for field in attribute.reads}
        self.reads = tuple(field for field in FURTHER if field in fields)
        groups = (key for attribute in plan.all_attributes for key in attribute.span_groups)
        self.span_keys = list(dict.fromkeys(groups))

    def with_templates(self, templates: Templates) -> FeatureSpace:
        """A space that looks at other things of units, and knows nothing."""
        return FeatureSpace(templates)

    def _specs(self) -> list[ResourceSpec | None]:
        return [*(attribute.spec for attribute in self.plan.all_attributes), self.links]

    def __len__(self) -> int:
        return len(self.index)

    def __getstate__(self) -> dict[str, object]:
        """What is copied and pickled: no words, which another thread may be adding."""
        return {**self.__dict__, "lexemes": self._no_lexemes(), "_known": None, "earlier": None}

    def identity(self) -> dict[str, object]:
        """What has to be the same for keys of features to mean the same."""
        return {
            "templates": [str(template) for template in self.templates.expanded()],
            "patterns": dict(self.templates.patterns),
        }

    # Resources

    @property
    def resources_to_read(self) -> list[str]:
        """The resources that `read_resources` has to read, such as `lexicon(genes)`."""
        return self.resources.to_read

    def read_resources(self, tokenize: Callable[[str], Iterable[str]]) -> None:
        """Read the lexicons and the resources of other packages.

        tokenize: tokens of a text without spaces. Raises `TemplateError` where one cannot be read.
        """
        self.resources.read(tokenize)
        self._forget_values()

    def learn_resources(self, tokens: Tokens, flags: Ints2d) -> None:
        """Let the resources learn from training tokens; flags: `resources.span_flags`."""
        self.learn_resources_in_blocks(lambda: iter([(tokens, flags)]))

    def learn_resources_in_blocks(self, blocks: FlaggedTokens) -> None:
        """As `learn_resources`, from a corpus that may not fit into memory."""
        self.resources.learn_in_blocks(blocks)
        self._forget_values()

    def add_to_resources(self, tokens: Tokens, flags: Ints2d) -> None:
        """Let the resources learn from further tokens, too."""
        self.resources.add(tokens, flags)
        self._forget_values()

    def are_seen(self, lower: Keys1d) -> Bools1d | None:
        """Which words, spaCy's hashes `[n]` in lower case, training had; None if not known."""
        return self.resources.are_seen(lower)

    def _forget_values(self) -> None:
        """Forget words whose values follow from a resource that may be another one now."""
        specs = [attribute.spec for attribute in self.plan.attributes]
        if any(spec is not None and not spec.kind.gives_codes for spec in specs):
            self.forget_lexemes(0)

    # Positions

    def _no_lexemes(self) -> LexemeTable:
        return LexemeTable(self.plan.attributes, self.resources)

    def forget(self) -> None:
        """Know no features, as before training."""
        self.index = KeyIndex()
        self.resources.forget()
        self.forget_lexemes(0)

    def forget_lexemes(self, more_than: int) -> None:
        """Start the table of words anew if it has grown beyond so many."""
        with LEXEME_LOCK:
            if len(self.lexemes) > more_than:
                self.lexemes, self._known = self._no_lexemes(), None

    def positions(
        self, tokens: Tokens, text_of: TextOf, own_flags: Ints2d | None = None
    ) -> PaddedTokens:
        """The tokens in a line, boundary words between sequences; own_flags: gold, in training."""
        table, resources = self.lexemes, self.resources
        codes = resources.codes(tokens, own_flags)
        earlier = None if self.earlier is None else self.earlier.lexemes
        lexemes = table.rows(tokens.words, codes, text_of, earlier)
        of_tokens = [
            attribute.values(tokens, resources.of(attribute.spec), own_flags)
            for attribute in self.plan.of_tokens
        ]
        plan = self.plan
        around = plan.margin, plan.slots.offsets
        line = tokens, table, lexemes, plan.n_unit_attributes, of_tokens, *around
        laid_out = lay_out(*line, text_of)
        if self.links is None:
            return laid_out
        return with_links(laid_out, resources.of(self.links).links(tokens))

    @property
    def longest(self) -> int | None:
        """The most tokens of a span that can have a label; None where any number can."""
        return None

    def too_long(self) -> str | None:
        """What is left out of a corpus since it is too long, in words; None where nothing is.

        To follow the name of a component.
        """
        return None

    # Features

    def learn(self, units: Units, minimum: int) -> None:
        """Number all features that are seen in at least `minimum` units."""
        self.learn_in_blocks([units], minimum)

    def learn_in_blocks(self, blocks: Iterable[Units], minimum: int) -> None:
        """As `learn`, from units that come in blocks of whole Docs, with bounded memory."""
        self._know(self._frequent(blocks, minimum))

    def extend(self, units: Units, minimum: int) -> int:
        """Number the unknown ones among them after the others; returns how many there are."""
        keys = self._frequent([units], minimum)
        new = keys[self.index.lookup(keys) < 0]
        self._know(np.append(self.index.keys, new))
        return len(new)

    def _know(self, keys: Keys1d) -> None:
        self.index = KeyIndex(keys)

    def _frequent(self, blocks: Iterable[Units], minimum: int) -> Keys1d:
        """Keys of features that are seen often enough."""
        counts = FeatureCounts(self.plan)
        for units in blocks:
            counts.add(units)
        return counts.frequent(minimum)

    def lexeme_keys(self, attributes: Keys2d) -> Keys2d:
        """Keys of the lexeme-level templates, uint64 `[n, templates]`; attributes `[n, A]`."""
        return lexeme_level_keys(attributes, self.plan.lexeme_attribute, self.plan.lexeme_salt)

    def unit_keys(self, units: Units) -> Keys2d:
        """Keys of the unit-level templates, uint64 `[U, templates]`."""
        values, of_unit = units.positions.values, values_of_units(self.plan, units)
        return unit_level_keys(self.plan.unit_level, values, of_unit, units.first, units.last)

    def unit_lexemes(self, units: Units) -> BinaryCSR:
        """Which (lexeme, slot) rows each unit sums."""
        return rows_of_slots(self.plan, units, 0)

    def unit_features(self, units: Units) -> BinaryCSR:
        """Known unit-level features of each unit."""
        return known_features(self.index, self.plan, self.plan.unit_level, units)

    def active_features(self, units: Units) -> BinaryCSR:
        """All known features of each unit, `[U, K]`, those of segments left out."""
        of_lexemes, lexemes = self._table_features(units.positions.table), self.unit_lexemes(units)
        of_units = self.unit_features(units)
        return Design(of_lexemes, lexemes, of_units).active_features()

    def lexeme_features(self, attributes: Keys2d) -> BinaryCSR:
        """Known features of each (lexeme, slot); attributes: uint64 `[n, A]`, of the lexemes."""
        ids = self.index.lookup(self.lexeme_keys(attributes))
        is_known = ids >= 0
        counts = np.add.reduceat(is_known, self.plan.slot_start[:-1], axis=1, dtype=np.int64)
        return BinaryCSR(np.append(0, np.cumsum(counts)), ids[is_known], len(self.index))

    def _table_features(self, table: LexemeTable) -> BinaryCSR:
        """Known features of each (lexeme, slot) of a table, kept for the next call."""
        known, attributes, n_slots = self._known, table.attributes, self.plan.n_slots
        if known is None or known.lexemes is not table or known.index is not self.index:
            rows = self.lexeme_features(attributes)
        elif known.rows.n_rows < len(attributes) * n_slots:
            new = self.lexeme_features(attributes[known.rows.n_rows // n_slots :])
            rows = known.rows.append(new)
        else:
            return known.rows
        self._known = _KnownFeatures(table, self.index, rows)
        return rows

    @property
    def n_cached(self) -> int:
        """Number of (lexeme, slot) rows whose features are kept between calls."""
        return 0 if self._known is None else self._known.rows.n_rows

    def design(self, units: Units) -> Design:
        """The design matrix of units, over the (lexeme, slot) rows that they look at."""
        lexemes = self.unit_lexemes(units)
        is_seen = np.zeros(lexemes.n_columns, dtype=np.bool_)
        is_seen[lexemes.indices] = True
        seen = np.flatnonzero(is_seen)
        number = (np.cumsum(is_seen) - 1).astype(np.int32)
        return Design(
            lexeme_features=self._table_features(units.positions.table).take(seen),
            unit_lexemes=BinaryCSR(lexemes.indptr, number[lexemes.indices], len(seen)),
            unit_features=self.unit_features(units),
        )

    def encode(self, units: Units) -> tuple[Encoded, ...]:
        """What training keeps of units: their features, and what other scorers keep."""
        return (self.design(units), *self.encode_others(units))

    def encode_others(self, units: Units) -> tuple[Encoded, ...]:
        """What scorers besides the features of units keep: that of an encoder, if there is one."""
        vectors = units.vectors
        return () if vectors is None else (DenseRows.of(vectors, len(self)),)
