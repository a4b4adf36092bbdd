"""`similar_word(MEASURE)`: the internal dictionary of a chain, as the paper has it.

A chain sees one word at a time. So its dictionary has all words of entities of the training corpus,
and a document does not see those that it alone has. The value is the similarity of the word to the
nearest of them.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from spacy_cascade.errors import TemplateError
from spacy_cascade.features.attributes import Attribute, Options
from spacy_cascade.features.registry import register_attribute
from spacy_cascade.features.resources import ResourceSpec
from spacy_cascade.features.span_context import SpanContext
from spacy_cascade.features.tokens import Tokens
from spacy_cascade.systems.dictionaries.similarity.attribute import Similarity
from spacy_cascade.systems.dictionaries.similarity.measures import MEASURES
from spacy_cascade.systems.dictionaries.similarity.resource import TrainingTerms
from spacy_cascade.types import Ints2d, Keys1d

INSIDE, FIRST, LAST = 1, 2, 3
"""Columns of gold flags (`features.resources.span_flags`)."""


def _words_as_spans(flags: Ints2d) -> Ints2d:
    """Flags under which every word of a gold span is a gold span of its own."""
    alone: Ints2d = flags.copy()
    alone[:, FIRST] = alone[:, LAST] = flags[:, INSIDE]
    return alone


class EntityWords(TrainingTerms):
    """The words of gold spans, each as a term."""

    def learn(self, tokens: Tokens, flags: Ints2d) -> EntityWords:
        return EntityWords(super().learn(tokens, _words_as_spans(flags)).dictionary, True)

    def values(self, measure: str, spans: SpanContext) -> Keys1d:
        own = spans.own_flags
        alone = SpanContext(
            spans.tokens, spans.start, spans.end, spans.found, spans.text_of,
            None if own is None else _words_as_spans(np.asarray(own)),
        )  # fmt: skip
        return super().values(measure, alone)


@register_attribute("similar_word")
class SimilarWord(Similarity):
    """`similar_word(MEASURE)`."""

    @classmethod
    def expand(cls, name: str, argument: str | None, options: Options) -> Iterable[Attribute]:
        if argument not in MEASURES:
            raise TemplateError(f"'{name}' needs one of the measures {', '.join(MEASURES)}.")
        return [cls(name, ResourceSpec(EntityWords, name, "words"), argument)]
