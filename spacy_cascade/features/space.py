"""A feature space: template set, feature ids, and the way from tokens to a design matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from ..numeric.design import BinaryCSR, Design
from ..numeric.index import KeyIndex
from ..parallel import LEXEME_LOCK
from ..types import Ints2d, Keys1d, Keys2d
from .attributes import ContextAttribute, TextOf
from .encoder import Encoder, unit_lexemes
from .feature_index import FeatureIndex
from .lexemes import LexemeTable
from .lexicons import Lexicon
from .listed_terms import ListedTerms, leaves_out
from .padded import PaddedTokens
from .plan import make_plan
from .resources import Resources
from .span_context import SpanContext
from .templates import Templates
from .tokens import FURTHER, Tokens
from .units import Units
from .word_counts import SpanWordCounts

__all__ = ["FeatureSpace", "TextOf"]


@dataclass(frozen=True)
class _WithResource:
    """An attribute of spans with the resource that it reads."""

    attribute: ContextAttribute
    resources: Resources

    def values(self, spans: SpanContext) -> Keys1d:
        return self.attribute.values(spans, self.resources.of(self.attribute.spec))


class FeatureSpace:
    """Everything that turns tokens into features, and the ids of the known features.

    A *unit* is what gets a label: a token (`first = last`) or a span of positions.

    templates: what to look at. plan: the same for kernels. resources: what attributes read besides
    the Docs. encoder: makes positions of tokens. ids: the known features. reads, span_keys: what
    `tokens.read_tokens` has to read besides the words.
    """

    def __init__(self, templates: Templates) -> None:
        self.templates = templates
        plan = make_plan(templates)
        self.resources = Resources(attribute.spec for attribute in plan.all_attributes)
        context = tuple(_WithResource(attribute, self.resources) for attribute in plan.of_spans)
        self.plan = replace(plan, context=context)
        self.encoder = Encoder(self.plan, self.resources)
        self.ids = FeatureIndex(self.plan)
        fields = {field for attribute in plan.all_attributes for field in attribute.reads}
        self.reads = tuple(field for field in FURTHER if field in fields)
        groups = (key for attribute in plan.all_attributes for key in attribute.span_groups)
        self.span_keys = list(dict.fromkeys(groups))

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def index(self) -> KeyIndex:
        """Keys of known features, in the order of the rows of the weights."""
        return self.ids.index

    @index.setter
    def index(self, index: KeyIndex) -> None:
        self.ids.index = index

    # Resources

    @property
    def resources_to_read(self) -> list[str]:
        """The resources that have to be read (`read_lexicons`), such as `lexicon(genes)`."""
        return self.resources.to_read

    @property
    def uses_word_counts(self) -> bool:
        """Whether some template reads the counts of words in training."""
        return any(spec.kind is SpanWordCounts for spec in self.resources.specs.values())

    @property
    def lexicons(self) -> dict[str, Lexicon]:
        """The lexicons that have been read, such as that of `lexicon(genes)`."""
        made = self.resources.made.items()
        return {key: listed.lexicon for key, listed in made if isinstance(listed, ListedTerms)}

    def leaves_out(self, key: str) -> bool:
        """Whether a Doc that is trained on does not see its own entries of a lexicon."""
        return leaves_out(self.resources.specs[key].settings)

    def read_resources(self, tokenize: Callable[[str], Iterable[str]]) -> None:
        """Read the lexicons and the resources of other packages.

        tokenize: tokens of a text without spaces. Raises `TemplateError` where one cannot be read.
        """
        self.resources.read(tokenize)
        self._forget_values()

    def learn_resources(self, tokens: Tokens, flags: Ints2d) -> None:
        """Let the resources learn from training tokens; flags: `word_counts.span_flags`."""
        self.resources.learn(tokens, flags)
        self._forget_values()

    def add_to_resources(self, tokens: Tokens, flags: Ints2d) -> None:
        """Let the resources learn from further tokens, too."""
        self.resources.add(tokens, flags)
        self._forget_values()

    def _forget_values(self) -> None:
        """Forget words whose values follow from a resource that may be another one now."""
        specs = [attribute.spec for attribute in self.plan.attributes]
        if any(spec is not None and not spec.kind.gives_codes for spec in specs):
            self.forget_lexemes(0)

    # Features

    @property
    def lexemes(self) -> LexemeTable:
        """The words met so far."""
        return self.encoder.table

    def forget_lexemes(self, more_than: int) -> None:
        """Start the table of words anew if it has grown beyond so many."""
        with LEXEME_LOCK:
            if len(self.lexemes) > more_than:
                self.encoder.forget(more_than)
                self.ids.forget()

    def positions(
        self, tokens: Tokens, text_of: TextOf, own_flags: Ints2d | None = None
    ) -> PaddedTokens:
        """The tokens in a line with boundary words between sequences.

        own_flags: gold flags of the tokens in training (see `SpanWordCounts.codes`).
        """
        return self.encoder.positions(tokens, text_of, own_flags)

    def learn(self, units: Units, minimum: int) -> None:
        """Number all features that are seen in at least `minimum` units."""
        self.ids.learn(units, minimum)

    def extend(self, units: Units, minimum: int) -> int:
        """Number the unknown ones among them after the others; returns how many there are."""
        return self.ids.extend(units, minimum)

    def unit_lexemes(self, units: Units) -> BinaryCSR:
        """Which (lexeme, slot) rows each unit sums."""
        return unit_lexemes(self.plan, units)

    def unit_features(self, units: Units) -> BinaryCSR:
        """Known unit-level features of each unit."""
        return self.ids.of_units(units)

    def lexeme_features(self, attributes: Keys2d) -> BinaryCSR:
        """Known features of each (lexeme, slot); attributes: of the lexemes, from their table."""
        return self.ids.of_lexemes(attributes)

    def design(self, units: Units) -> Design:
        """The design matrix of units, over the (lexeme, slot) rows that they look at."""
        lexemes = self.unit_lexemes(units)
        is_seen = np.zeros(lexemes.n_columns, dtype=np.bool_)
        is_seen[lexemes.indices] = True
        seen = np.flatnonzero(is_seen)
        number = (np.cumsum(is_seen) - 1).astype(np.int32)
        return Design(
            lexeme_features=self.ids.of_table(units.positions.table).take(seen),
            unit_lexemes=BinaryCSR(lexemes.indptr, number[lexemes.indices], len(seen)),
            unit_features=self.unit_features(units),
        )
